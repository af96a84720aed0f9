/// What one user of a sample stream is like; it follows from the seed and the user's number alone.
struct UserProfile {
    /// A device with the app on it.
    struct Device {
        /// Which of `Platform.names` it runs.
        let platform: Int
        /// Which app is on it.
        let app: Int
        /// What its ids are made of.
        let seed: UInt64
    }

    /// The mean number of sessions a day of each cadence, from nine a day to one a week.
    static let sessionsPerDay = [9, 2.4, 0.8, 0.3, 0.14]
    /// The mean number of launched campaigns that a user gets in a day.
    static let launchesPerDay = 0.7

    let number: UInt32
    /// What all ids of the user are made of.
    let seed: UInt64
    let cadence: Int
    let deviceCount: Int
    /// When a user who replaces nobody first comes; zero for those who have always been there.
    let joins: UInt32
    /// From when on the external id is known.
    let identified: UInt32

    init(_ number: Int, options: WorkloadOptions) {
        self.number = UInt32(number)
        var random = SplitMix64(options.seed, 0x05E2, UInt64(number))
        seed = random.next()
        let place = random.unit()
        cadence =
            switch place {
            case ..<0.04: 0
            case ..<0.22: 1
            case ..<0.60: 2
            case ..<0.85: 3
            default: 4
            }
        let devices = random.unit()
        deviceCount = devices < 0.68 ? 1 : devices < 0.93 ? 2 : 3
        let moment = UInt32(options.start + random.below(options.days * 86_400))
        joins = random.chance(0.05) ? moment : 0
        let known = random.unit()
        identified = known < 0.88 ? 0 : known < 0.92 ? moment : .max
    }

    func device(_ place: UInt8) -> Device {
        let seed = SplitMix64.mix(self.seed &+ UInt64(place))
        let dice = Int(seed % 100)
        // The first device is a phone for most; a second one is more often a browser.
        let platform = place == 0 ? (dice < 46 ? 0 : dice < 92 ? 1 : 2) : (dice < 35 ? 0 : dice < 65 ? 1 : 2)
        return Device(platform: platform, app: (seed >> 32) % 5 == 0 ? 1 : 0, seed: seed)
    }

    func write(userID json: inout ByteCursor) {
        json.append(objectID: seed)
    }

    func write(externalID json: inout ByteCursor) {
        json.append("cust-")
        json.append(decimal: Int(number) + 1, width: 7)
    }

    /// Whether records of that time carry the external id.
    func isIdentified(at time: UInt32) -> Bool { time >= identified }
}

/// The platforms of a sample stream.
enum Platform {
    /// Their names in records, by number.
    static let names = ["ios", "android", "web"]
    static let ios = 0
    static let web = 2
}
