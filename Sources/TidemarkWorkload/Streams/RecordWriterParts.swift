/// Groups of fields that several types share. Each leaves a comma behind.
extension RecordWriter {
    func writeApp(_ device: UserProfile.Device, _ json: inout ByteCursor) {
        json.append("\"app_id\":\"")
        json.append(appID(device.app))
        json.append("\",")
    }

    func writeTimeZone(_ profile: UserProfile, _ json: inout ByteCursor) {
        json.append("\"timezone\":\"")
        switch profile.seed >> 60 {
        case 0..<4: json.append("Europe/Berlin")
        case 4..<7: json.append("Europe/Paris")
        case 7..<10: json.append("America/New_York")
        case 10..<12: json.append("America/Los_Angeles")
        case 12..<14: json.append("Asia/Kolkata")
        default: json.append("Australia/Sydney")
        }
        json.append("\",")
    }

    func writePlatform(_ event: WorkloadEvent, _ device: UserProfile.Device, _ json: inout ByteCursor) {
        if event.traits.contains(.withoutPlatform) { return json.append("\"platform\":null,") }
        switch device.platform {
        case 0: json.append("\"platform\":\"ios\",")
        case 1: json.append("\"platform\":\"android\",")
        default: json.append("\"platform\":\"web\",")
        }
    }

    func writeDeviceID(_ event: WorkloadEvent, _ device: UserProfile.Device, _ json: inout ByteCursor) {
        if event.traits.contains(.withoutDevice) { return json.append("\"device_id\":null,") }
        json.append("\"device_id\":\"")
        json.append(uuid: device.seed)
        json.append("\",")
    }

    func writeModel(_ device: UserProfile.Device, _ json: inout ByteCursor) {
        switch (device.platform, (device.seed >> 40) & 3) {
        case (0, 0): json.append("\"os_version\":\"18.1\",\"device_model\":\"iPhone 15 Pro\",")
        case (0, 1): json.append("\"os_version\":\"18.6.2\",\"device_model\":\"iPhone 14\",")
        case (0, _): json.append("\"os_version\":\"17.5.1\",\"device_model\":\"iPad Air\",")
        case (1, 0): json.append("\"os_version\":\"15\",\"device_model\":\"Pixel 8\",")
        case (1, 1): json.append("\"os_version\":\"14\",\"device_model\":\"SM-S921B\",")
        case (1, _): json.append("\"os_version\":\"13\",\"device_model\":\"Redmi Note 12\",")
        case (_, 0): json.append("\"os_version\":\"Windows\",\"device_model\":\"Chrome\",")
        default: json.append("\"os_version\":\"Mac OS X\",\"device_model\":\"Safari\",")
        }
    }

    func writeAdvertising(_ device: UserProfile.Device, _ json: inout ByteCursor) {
        if device.platform == Platform.web {
            return json.append("\"ad_id\":null,\"ad_id_type\":null,\"ad_tracking_enabled\":null,")
        }
        json.append("\"ad_id\":\"")
        json.append(uuid: ~device.seed)
        json.append(device.platform == 0 ? "\",\"ad_id_type\":\"ios_idfa\"," : "\",\"ad_id_type\":\"google_ad_id\",")
        json.append(device.seed & 1 == 0 ? "\"ad_tracking_enabled\":true," : "\"ad_tracking_enabled\":false,")
    }

    func writeToken(_ device: UserProfile.Device, _ json: inout ByteCursor) {
        json.append("\"push_token\":\"")
        json.append(hex: device.seed)
        json.append(hex: ~device.seed)
        json.append(hex: device.seed &* 0x9E37_79B9_7F4A_7C15)
        json.append(hex: device.seed &* 0xD1B5_4A32_D192_ED03)
        json.append("\",")
    }

    /// A field whose value is made of the event's link.
    func writeLink(
        _ name: StaticString, _ event: WorkloadEvent, _ json: inout ByteCursor, value: (inout ByteCursor) -> Void
    ) {
        json.append(name)
        if event.link == 0 { return json.append("null,") }
        json.append("\"")
        value(&json)
        json.append("\",")
    }
}
