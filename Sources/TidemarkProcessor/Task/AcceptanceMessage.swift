internal import TidemarkEvents

/// What to tell about events that were readable but came at the wrong time.
enum AcceptanceMessage {
    /// One sentence with the times in it and what can be done.
    static func text(_ code: RejectionCode, _ event: borrowing Event, watermark: UInt32) -> String {
        switch code {
        case .late:
            "event time \(event.time) is below what allowed lateness still takes (watermark \(watermark)); "
                + "a replay with a larger attribution.allowed_lateness takes it in"
        case .futureDated:
            "event time \(event.time) is further ahead of the record's own time than attribution.future_tolerance allows; "
                + "check the clock of the producer"
        default:
            code.rawValue
        }
    }
}
