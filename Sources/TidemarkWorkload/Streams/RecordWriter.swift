/// Writes the records of a sample stream as flat JSON, with the fields that each type has in Currents storage files.
///
/// Whatever is the same for many records is written once beforehand; the rest goes digit by digit into memory.
struct RecordWriter: Sendable {
    let catalog: Catalog
    let options: WorkloadOptions
    private let texts: RecordTexts
    /// No record of the stream is longer, in bytes; what is written beyond for speed counts too.
    let longestRecord: Int

    init(catalog: Catalog, options: WorkloadOptions) {
        self.catalog = catalog
        self.options = options
        texts = RecordTexts(catalog, options)
        // All that is not of the message takes less than 1,200 bytes in the longest records, those of push sends.
        longestRecord = texts.longestOfMessage + 2_048
    }

    /// The id of an app, by its number.
    func appID(_ app: Int) -> UnsafeRawBufferPointer { texts.app(app) }

    /// Appends the record of an event.
    func write(_ event: WorkloadEvent, of profile: UserProfile, to json: inout ByteCursor) {
        json.append(texts.beginning(of: event.type))
        writeCore(event, profile, &json)
        let message = texts.message(event.message, at: event.time)
        let device = profile.device(event.device)
        switch event.type {
        case .pushSend, .pushBounce, .pushForeground, .pushOpen, .pushAbort, .pushRetry:
            writePush(event, device, profile, message, &json)
        case .firstSession, .sessionStart, .sessionEnd, .customEvent:
            writeBehaviour(event, device, &json)
        case .campaignConversion, .campaignEnrolment, .canvasConversion, .canvasEntry:
            writeOutcome(event, device, profile, message, &json)
        case .emailSend:
            json.append(message.campaign)
            writeEmail(event, &json)
        default:
            writeContent(event, device, profile, message, &json)
        }
        json.replaceLast(with: UInt8(ascii: "}"))
    }

    private func writeCore(_ event: WorkloadEvent, _ profile: UserProfile, _ json: inout ByteCursor) {
        json.append(uuid: event.identity)
        json.append("\",\"user_id\":\"")
        profile.write(userID: &json)
        if profile.isIdentified(at: event.time) {
            json.append("\",\"external_user_id\":\"")
            profile.write(externalID: &json)
            json.append("\",\"time\":")
        } else {
            json.append("\",\"external_user_id\":null,\"time\":")
        }
        json.append(decimal: Int(event.time))
        json.append(",\"app_group_id\":\"")
        json.append(texts.workspace)
        json.append("\",")
    }

    private func writePush(
        _ event: WorkloadEvent, _ device: UserProfile.Device, _ profile: UserProfile,
        _ message: RecordTexts.Message, _ json: inout ByteCursor
    ) {
        json.append(message.campaign)
        json.append(message.canvas)
        writeApp(device, &json)
        writeTimeZone(profile, &json)
        writePlatform(event, device, &json)
        writeLink("\"dispatch_id\":", event, &json) { $0.append(objectID: event.link) }
        json.append("\"send_id\":null,")
        writeDeviceID(event, device, &json)
        switch event.type {
        case .pushSend, .pushBounce:
            writeToken(device, &json)
            if event.type == .pushSend {
                json.append("\"message_extras\":\"{\\\"origin\\\":\\\"crm\\\",\\\"tier\\\":\\\"gold\\\"}\",")
                json.append("\"locale_key\":null,")
            }
            writeAdvertising(device, &json)
        case .pushOpen:
            writeModel(device, &json)
            writeAdvertising(device, &json)
            writePushButton(event, &json)
        case .pushForeground: writeAdvertising(device, &json)
        case .pushAbort:
            json.append("\"abort_type\":\"frequency_capped\",\"abort_log\":\"Capped at 3 pushes a day\",")
        default: json.append("\"retry_type\":\"prioritised\",\"retry_log\":null,")
        }
    }

    private func writePushButton(_ event: WorkloadEvent, _ json: inout ByteCursor) {
        let button = PushButton.all[Int(event.detail)]
        json.append("\"canvas_step_message_variation_id\":null,\"button_action_type\":")
        json.append(optional: button.action)
        json.append(",\"button_string\":")
        json.append(optional: button.name)
        json.append(",")
    }

    private func writeBehaviour(_ event: WorkloadEvent, _ device: UserProfile.Device, _ json: inout ByteCursor) {
        writeApp(device, &json)
        switch event.type {
        case .customEvent:
            json.append("\"name\":\"added_to_cart\",\"properties\":\"{\\\"items\\\":3,\\\"total\\\":59.9}\",")
        case .sessionEnd: json.append("\"duration\":187.25,")
        default: break
        }
        if event.type != .customEvent {
            writeLink("\"session_id\":", event, &json) { $0.append(uuid: event.link) }
        }
        writePlatform(event, device, &json)
        writeDeviceID(event, device, &json)
        writeModel(device, &json)
    }

    private func writeContent(
        _ event: WorkloadEvent, _ device: UserProfile.Device, _ profile: UserProfile,
        _ message: RecordTexts.Message, _ json: inout ByteCursor
    ) {
        json.append(message.campaign)
        json.append(message.canvas)
        if event.link != 0 {
            writeLink("\"content_card_id\":", event, &json) { $0.append(uuid: event.link) }
        }
        json.append("\"send_id\":null,")
        writeTimeZone(profile, &json)
        writeDeviceID(event, device, &json)
        if event.type == .inAppClick || event.type == .bannerClick {
            json.append("\"button_id\":")
            json.append(optional: ContentButton.names[Int(event.detail)])
            json.append(",")
        }
        if event.type == .cardSend || event.type == .cardAbort { return }
        writeApp(device, &json)
        writePlatform(event, device, &json)
        writeModel(device, &json)
        writeAdvertising(device, &json)
    }

    private func writeOutcome(
        _ event: WorkloadEvent, _ device: UserProfile.Device, _ profile: UserProfile,
        _ message: RecordTexts.Message, _ json: inout ByteCursor
    ) {
        let isOfCampaign = event.type == .campaignConversion || event.type == .campaignEnrolment
        json.append(isOfCampaign ? message.campaign : message.canvas)
        writeTimeZone(profile, &json)
        switch event.type {
        case .canvasEntry:
            json.append("\"in_control_group\":")
            json.append(event.detail == 1 ? "true," : "false,")
            return
        case .campaignEnrolment: break
        default:
            json.append("\"conversion_behavior_index\":")
            if event.detail < 4 { json.append(decimal: Int(event.detail)) } else { json.append("null") }
            json.append(",\"conversion_behavior\":\"{\\\"type\\\":\\\"Makes Purchase\\\",\\\"window\\\":259200}\",")
        }
        writeApp(device, &json)
    }

    private func writeEmail(_ event: WorkloadEvent, _ json: inout ByteCursor) {
        json.append("\"email_address\":\"someone@example.com\",\"ip_pool\":\"main\",\"message_extras\":null,")
        writeLink("\"dispatch_id\":", event, &json) { $0.append(objectID: event.link) }
    }
}

/// The buttons of in-app messages and banners by number; the first stands for the body.
enum ContentButton {
    static let names: [StaticString?] = [nil, "0", "1", "get_offer"]
}
