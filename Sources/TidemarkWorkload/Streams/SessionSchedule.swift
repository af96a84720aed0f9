/// Sessions and what a user meets in them.
extension UserSchedule {
    /// Adds the user's very first session; half of the apps report it by both types.
    mutating func addFirstSession(at time: Int) {
        let session = random.next()
        emit(.firstSession, at: time, device: 0, link: session)
        if random.chance(0.5) {
            emit(.sessionStart, at: time, device: 0, link: session)
        }
        addContent(at: time, device: 0)
    }

    /// Adds a session and what is seen in it.
    mutating func addSession(at time: Int, device: UInt8) {
        let session = random.next()
        let traits: WorkloadEvent.Traits = random.chance(0.01) ? .withoutDevice : []
        emit(.sessionStart, at: time, device: device, link: session, traits: traits)
        if random.chance(0.25) {
            emit(.sessionEnd, at: time + random.number(20...1_200), device: device, link: session)
        }
        if random.chance(0.12) {
            emit(.customEvent, at: time + random.number(5...300), device: device)
        }
        addContent(at: time, device: device)
        if random.chance(0.03) { enterCanvas(at: time + random.number(1...120), device: device) }
    }

    private mutating func addContent(at time: Int, device: UInt8) {
        if random.chance(0.16) { addInApp(at: time + random.number(1...30), device: device) }
        if random.chance(0.10) { addCard(at: time + random.number(2...60), device: device) }
        if random.chance(0.12) { addBanner(at: time + random.number(1...60), device: device) }
        if random.chance(0.08) {
            let flag = random.below(catalog.flags.count)
            let side = Int(SplitMix64.mix(profile.seed ^ UInt64(flag)) & 1)
            emit(
                .flagImpression, at: time + random.number(1...5), device: device,
                message: catalog.flags.message(flag, side))
        }
    }

    private mutating func addInApp(at time: Int, device: UInt8) {
        let campaign = random.below(catalog.inApp.count)
        if random.chance(0.03) {
            let control = catalog.inApp.message(campaign, 2)
            return emit(.campaignEnrolment, at: time, device: device, message: control)
        }
        let message = catalog.inApp.message(campaign, variation(of: campaign))
        if random.chance(0.04) {
            return emit(.inAppAbort, at: time, device: device, message: message)
        }
        emit(.inAppImpression, at: time, device: device, message: message)
        if random.chance(0.3) {
            // The body, the first and second button, and one that the author named.
            let button = random.pick([0, 1, 1, 2, 3])
            emit(.inAppClick, at: time + random.number(1...40), device: device, message: message, detail: button)
        }
        if random.chance(0.06) { addConversion(.campaignConversion, at: time, device: device, message: message) }
    }

    private mutating func addCard(at time: Int, device: UInt8) {
        let message = catalog.cards.message(random.below(catalog.cards.count), 0)
        let card = random.next()
        if random.chance(0.03) {
            return emit(.cardAbort, at: time, device: device, message: message)
        }
        emit(.cardSend, at: time - random.number(1...3_600), device: device, message: message, link: card)
        emit(.cardImpression, at: time, device: device, message: message, link: card)
        if random.chance(0.2) {
            emit(.cardClick, at: time + random.number(1...30), device: device, message: message, link: card)
        }
        if random.chance(0.12) {
            emit(.cardDismiss, at: time + random.number(2...50), device: device, message: message, link: card)
        }
    }

    private mutating func addBanner(at time: Int, device: UInt8) {
        let message = catalog.banners.message(random.below(catalog.banners.count), 0)
        if random.chance(0.02) {
            return emit(.bannerAbort, at: time, device: device, message: message)
        }
        emit(.bannerImpression, at: time, device: device, message: message)
        if random.chance(0.15) {
            let button = random.pick([0, 3])
            emit(.bannerClick, at: time + random.number(1...40), device: device, message: message, detail: button)
        }
        if random.chance(0.06) {
            emit(.bannerDismiss, at: time + random.number(1...60), device: device, message: message)
        }
    }

    private mutating func enterCanvas(at time: Int, device: UInt8) {
        let canvas = random.below(catalog.canvases.count)
        let variation = variation(of: canvas)
        let whole = catalog.canvases.message(canvas, variation * 4 + 3)
        let isControl = random.chance(0.1)
        emit(.canvasEntry, at: time, device: device, message: whole, detail: isControl ? 1 : 0)
        if isControl { return }
        var stepTime = time
        for step in 0..<3 {
            stepTime += step == 0 ? random.number(60...900) : random.number(20...30) * 3_600
            let message = catalog.canvases.message(canvas, variation * 4 + step)
            addPush(message, at: stepTime, dispatch: random.next())
            if random.chance(0.08) {
                addConversion(.canvasConversion, at: stepTime, device: device, message: message)
            }
            if random.chance(0.5) { break }
        }
        if random.chance(0.05) { addConversion(.canvasConversion, at: time, device: device, message: whole) }
    }

    /// Adds a conversion some time after its cause; most are of the first kind, some of them without saying so.
    mutating func addConversion(_ type: WorkloadEventType, at cause: Int, device: UInt8, message: UInt16) {
        let index = random.pick([0, 0, 0, 0, 0, 1, 1, 2, 3, 4])
        emit(
            type, at: cause + random.wait(mean: 14_400, atMost: 200_000), device: device, message: message,
            detail: index)
    }

    /// The variation of a campaign or canvas that the user always gets.
    func variation(of campaign: Int) -> Int {
        Int(SplitMix64.mix(profile.seed &- UInt64(campaign)) & 1)
    }
}
