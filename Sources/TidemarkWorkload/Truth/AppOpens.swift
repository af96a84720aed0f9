/// A session on an app.
struct AppOpen {
    /// The first event of the session, which gives its time and its place in order.
    let first: PlainEvent
    /// The first device named by an event of the session.
    var device: Text?

    var time: Int { first.time }
    var app: Text? { first.app }
    var order: EventOrder { first.order }
}

/// The app opens of one user (section 1 of the attribution rules).
struct AppOpens {
    private struct Key: Hashable {
        let app: Text?
        let session: Text
    }

    /// All app opens in order.
    private(set) var all: [AppOpen] = []

    /// - Parameter events: the accepted events of one user, in order.
    init(of events: [PlainEvent], settings: PlainSettings) {
        var current: [Key: Int] = [:]
        for event in events where event.type.isSession {
            guard let session = event.session else { continue }
            let key = Key(app: event.app, session: session)
            if let place = current[key], event.time - all[place].time <= settings.span {
                all[place].device = all[place].device ?? event.device
            } else {
                current[key] = all.count
                all.append(AppOpen(first: event, device: event.device))
            }
        }
    }
}
