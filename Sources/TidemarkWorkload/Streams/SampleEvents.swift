/// Makes whole events of the few bytes of a sample stream: the fields that its records have, without the JSON.
struct SampleEventMaker {
    private let catalog: Catalog
    private let apps: [String]
    private let profile: UserProfile
    private let userID: String
    private let externalID: String
    private let devices: [UserProfile.Device]
    private let deviceIDs: [String]

    init(_ profile: UserProfile, writer: RecordWriter) {
        catalog = writer.catalog
        apps = [0, 1].map { String(decoding: writer.appID($0), as: UTF8.self) }
        self.profile = profile
        userID = String(written: profile.write(userID:))
        externalID = String(written: profile.write(externalID:))
        devices = (0..<UInt8(profile.deviceCount)).map(profile.device)
        deviceIDs = devices.map { device in String(written: { $0.append(uuid: device.seed) }) }
    }

    /// The event as its record says it.
    func sample(_ event: WorkloadEvent) -> SampleEvent {
        var sample = catalog.messages[Int(event.message)].version(at: event.time).fields
        sample.id = String(written: { $0.append(uuid: event.identity) })
        sample.eventType = event.type.name
        sample.userID = userID
        sample.time = Int(event.time)
        sample.externalUserID = profile.isIdentified(at: event.time) ? externalID : nil
        switch event.type {
        case .canvasEntry: sample.inControlGroup = event.detail == 1
        case .campaignConversion, .canvasConversion:
            sample.appID = apps[devices[Int(event.device)].app]
            sample.conversionBehaviorIndex = event.detail < 4 ? Int(event.detail) : nil
        case .campaignEnrolment: sample.appID = apps[devices[Int(event.device)].app]
        case .emailSend: sample.dispatchID = dispatch(event)
        case .cardSend, .cardAbort: sample.deviceID = device(event)
        default: addDevice(event, to: &sample)
        }
        return sample
    }

    private func addDevice(_ event: WorkloadEvent, to sample: inout SampleEvent) {
        sample.deviceID = device(event)
        let device = devices[Int(event.device)]
        sample.appID = apps[device.app]
        sample.platform = event.traits.contains(.withoutPlatform) ? nil : Platform.names[device.platform]
        switch event.type {
        case .pushSend, .pushBounce, .pushForeground, .pushAbort, .pushRetry: sample.dispatchID = dispatch(event)
        case .pushOpen:
            sample.dispatchID = dispatch(event)
            sample.buttonActionType = PushButton.all[Int(event.detail)].action?.description
            sample.buttonString = PushButton.all[Int(event.detail)].name?.description
        case .sessionStart, .firstSession, .sessionEnd:
            sample.sessionID = String(written: { $0.append(uuid: event.link) })
        case .inAppClick, .bannerClick: sample.buttonID = ContentButton.names[Int(event.detail)]?.description
        default: break
        }
    }

    private func device(_ event: WorkloadEvent) -> String? {
        event.traits.contains(.withoutDevice) ? nil : deviceIDs[Int(event.device)]
    }

    private func dispatch(_ event: WorkloadEvent) -> String? {
        event.link == 0 ? nil : String(written: { $0.append(objectID: event.link) })
    }
}
