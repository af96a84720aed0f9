internal import TidemarkAttribution
internal import TidemarkEvents

/// Whether an event comes at a time at which it may count (`spec/attribution.md` section 2, rules 1 and 2).
struct Acceptance {
    /// Seconds; `nil` takes any.
    private let futureTolerance: Int64?
    /// Seconds; `nil` takes any.
    private let allowedLateness: Int64?

    init(_ rules: AttributionRules) {
        futureTolerance = rules.futureTolerance
        allowedLateness = rules.allowedLateness
    }

    /// Why an event is refused; `nil` where it is not.
    ///
    /// - Parameters:
    ///   - eventTime: seconds since the epoch.
    ///   - recordTime: the Kafka timestamp of its record, milliseconds since the epoch.
    ///   - watermark: the greatest accepted event time so far, seconds since the epoch.
    @inline(__always)
    func refusal(_ eventTime: UInt32, recordTime: Int64, watermark: UInt32) -> RejectionCode? {
        let time = Int64(eventTime)
        if let futureTolerance, time * 1_000 > recordTime + futureTolerance * 1_000 { return .futureDated }
        if let allowedLateness, time < Int64(watermark) - allowedLateness { return .late }
        return nil
    }
}
