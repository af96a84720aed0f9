public import TidemarkEvents

/// One retained event of a user: fixed size, with texts either as numbers of the task's `Vocabulary` or in the user's own heap.
public struct TimelineEntry: BitwiseCopyable {
    /// What else there is to know of an event, in one byte.
    public struct Flags: OptionSet, BitwiseCopyable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Flags from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The two bits of a conversion's behaviour index.
        public static let conversionIndexBits: UInt8 = 0b11
        /// A canvas Entry of the control group.
        public static let inControlGroup = Flags(rawValue: 1 << 2)
        /// A push Open whose button only closes the notification: no direct open.
        public static let closes = Flags(rawValue: 1 << 3)
        /// A push Open without a button, or a click without one.
        public static let bodyClick = Flags(rawValue: 1 << 4)
        /// Counted for good: kept only as evidence for others (`Fold`).
        public static let settled = Flags(rawValue: 1 << 5)
    }

    /// Event time, seconds since the epoch.
    public var time: UInt32
    /// What happened.
    public var type: EventType
    /// See `Flags`.
    public var flags: Flags
    /// Length of `id` in the user's heap.
    public var idLength: UInt16
    /// Number of the platform in lower case; 0 is null.
    public var platform: UInt32
    /// Number of the app; 0 is null, and two nulls are the same app.
    public var app: UInt32
    /// Number of the label set.
    public var label: UInt32
    /// A push Open's or a click's button (number of its name, 0 is none); a session's place of `session_id` in the user's heap.
    public var payload: UInt32
    /// Hash of `device_id`; 0 is null. Only ever compared within one user.
    public var device: UInt64
    /// Hash of `dispatch_id`, or of `session_id` for sessions; 0 is null. Only ever compared within one user.
    public var link: UInt64
    /// Place of `id` in the user's heap.
    public var idOffset: UInt32
    /// Place of `external_user_id` in the user's heap; 0 is null.
    public var external: UInt32

    /// An entry; the places of its texts are its user's to give (`UserStateBuilder`).
    public init(
        time: UInt32, type: EventType, flags: Flags, platform: UInt32, app: UInt32, label: UInt32, payload: UInt32,
        device: UInt64, link: UInt64, idOffset: UInt32 = 0, idLength: UInt16 = 0, external: UInt32 = 0
    ) {
        self.time = time
        self.type = type
        self.flags = flags
        self.idLength = idLength
        self.platform = platform
        self.app = app
        self.label = label
        self.payload = payload
        self.device = device
        self.link = link
        self.idOffset = idOffset
        self.external = external
    }

    /// Whether the event is a push Open that counts as a direct open (`spec/attribution.md` section 3).
    @inlinable public var isDirectOpen: Bool { type == .pushOpen && !flags.contains(.closes) }
    /// Whether the entry only serves as evidence.
    @inlinable public var isSettled: Bool { flags.contains(.settled) }

    /// Whether two devices may be the same: equal, or at least one unknown (section 1, "compatible devices").
    @inlinable
    public static func areCompatible(_ left: UInt64, _ right: UInt64) -> Bool {
        left == right || left == 0 || right == 0
    }
}

/// The kept starts of one app's sessions in one calendar month (`spec/attribution.md` sections 4 and 7).
public struct MonthHistory: BitwiseCopyable {
    /// Number of the app.
    public var app: UInt32
    /// See `UTCMonth`.
    public var month: Int32
    /// How many starts were kept.
    public var count: UInt32
    /// The first and the last kept start, seconds since the epoch.
    public var first, last: UInt32

    /// A month as it was kept.
    public init(app: UInt32, month: Int32, count: UInt32, first: UInt32, last: UInt32) {
        self.app = app
        self.month = month
        self.count = count
        self.first = first
        self.last = last
    }

    /// Takes an app open at `time`, not before any taken earlier, into the month (section 4: starts closer than `merge` to the
    /// last kept one are not kept).
    @inline(__always)
    mutating func add(_ time: UInt32, merge: Int64) {
        guard count == 0 || Int64(time) - Int64(last) >= merge else { return }
        if count == 0 { first = time }
        last = time
        count += 1
    }
}
