/// Pushes and what becomes of them.
extension UserSchedule {
    /// Adds the launched campaigns of the slice that reach the user.
    mutating func addLaunches() {
        let wanted = random.occurrences(noneWith: plan.withoutLaunches)
        let launches = plan.launches
        guard wanted > 0, !launches.isEmpty else { return }
        // Launches next to each other in the list are different campaigns.
        let first = random.below(launches.count)
        for place in 0..<min(wanted, launches.count) {
            let launch = launches[(first + place) % launches.count]
            // A large send takes minutes to go through all users.
            let time = launch.time + random.below(600)
            if random.chance(0.03) {
                let control = catalog.push.message(launch.campaign, 2)
                emit(.campaignEnrolment, at: time, device: 0, message: control)
            } else {
                let message = catalog.push.message(launch.campaign, variation(of: launch.campaign))
                addPush(message, at: time, dispatch: launch.dispatch)
            }
        }
    }

    /// Adds what is rare: pushes of no message, pushes without dispatch, emails, and presses on very old pushes.
    mutating func addOddities() {
        let time = plan.start + random.below(SlicePlan.length)
        let dice = random.unit() / options.intensity
        let campaign = random.below(catalog.push.count)
        let message = catalog.push.message(campaign, variation(of: campaign))
        if dice < 0.003 {
            addPush(Catalog.none, at: time, dispatch: random.next())
        } else if dice < 0.008 {
            addPush(message, at: time, dispatch: 0)
        } else if dice < 0.011 {
            emit(.pushOpen, at: time, device: anyDevice(), message: message, link: random.next())
        } else if dice < 0.035 {
            emit(.emailSend, at: time, device: 0, message: message, link: random.next())
        }
    }

    /// Adds a push of a message to all devices of the user, and what becomes of it.
    mutating func addPush(_ intended: UInt16, at time: Int, dispatch: UInt64) {
        let message = replacedByHot(intended)
        if random.chance(0.02) {
            return emit(.pushAbort, at: time, device: 0, message: message, link: dispatch)
        }
        var sent = time
        if random.chance(0.01) {
            emit(.pushRetry, at: time, device: 0, message: message, link: dispatch)
            sent += random.number(600...7_200)
        }
        let traits: WorkloadEvent.Traits = random.chance(0.01) ? .withoutDevice : []
        for device in 0..<UInt8(profile.deviceCount) {
            emit(.pushSend, at: sent, device: device, message: message, link: dispatch, traits: traits)
            if random.chance(0.015) {
                let bounced = sent + (random.chance(0.1) ? random.number(3_600...50_000) : random.number(1...60))
                emit(.pushBounce, at: bounced, device: device, message: message, link: dispatch)
            }
            if random.chance(0.02) && profile.device(device).platform == Platform.ios {
                emit(.pushForeground, at: sent + 1, device: device, message: message, link: dispatch)
            }
            sent += random.below(2)
        }
        addReaction(to: message, at: sent, dispatch: dispatch)
    }

    /// The message of the hot campaign for its share of the pushes.
    private mutating func replacedByHot(_ message: UInt16) -> UInt16 {
        guard options.hotCampaignShare > 0, random.chance(options.hotCampaignShare) else { return message }
        return catalog.push.message(0, variation(of: 0))
    }

    private mutating func addReaction(to message: UInt16, at sent: Int, dispatch: UInt64) {
        let device = anyDevice()
        let dice = random.unit()
        if dice < 0.07 {
            let opened = sent + 4 + random.wait(mean: 1_500, atMost: 36_000)
            addDirectOpen(of: message, at: opened, device: device, dispatch: dispatch)
        } else if dice < 0.085 {
            let closed = sent + 4 + random.wait(mean: 600, atMost: 36_000)
            emit(
                .pushOpen, at: closed, device: device, message: message, link: dispatch,
                detail: PushButton.close)
        } else if dice < 0.20 {
            // The push is seen but not pressed.
            addSession(at: sent + 20 + random.wait(mean: 2_400, atMost: 36_000), device: device)
        }
        if message != Catalog.none && random.chance(0.03) {
            let type: WorkloadEventType = catalog.isCanvas(message) ? .canvasConversion : .campaignConversion
            addConversion(type, at: sent, device: device, message: message)
        }
    }

    private mutating func addDirectOpen(of message: UInt16, at opened: Int, device: UInt8, dispatch: UInt64) {
        let button = random.chance(0.2) ? random.number(PushButton.opening) : PushButton.none
        let traits: WorkloadEvent.Traits = random.chance(0.02) ? .withoutPlatform : []
        // Few devices have a wrong clock; one that is behind may press a push before it was sent.
        let skew = random.chance(0.01) ? random.number(-900...45) : 0
        emit(
            .pushOpen, at: opened, device: device, message: message, link: dispatch, detail: button, traits: traits,
            skew: skew)
        // At a cold start the session begins before the press is seen.
        addSession(at: opened + random.number(-15...20), device: device)
        if random.chance(0.02) {
            emit(.pushOpen, at: opened + random.number(1...9), device: device, message: message, link: dispatch)
        }
    }
}

/// The buttons of pushes by number.
enum PushButton {
    /// A press on the body.
    static let none = 0
    /// A button that dismisses the push.
    static let close = 1
    /// The buttons that open the app.
    static let opening = 2...5

    /// What each button does and what its author calls it.
    static let all: [(action: StaticString?, name: StaticString?)] = [
        (nil, nil), ("close", "later"), ("deep_link", "shop_now"), ("URI", "read_more"), ("deep_link", nil),
        ("none", "ok"),
    ]
}
