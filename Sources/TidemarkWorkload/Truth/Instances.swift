/// One message to one user: the Sends of one dispatch within a span, and what belongs to them.
struct Instance {
    /// The Sends in order; never empty.
    var sends: [PlainEvent]
    /// The Bounces and IosForegrounds that belong to the instance.
    var blockers: [PlainEvent] = []
    /// Whether a direct open belongs to the instance.
    var hasDirectOpen = false

    var first: PlainEvent { sends[0] }

    /// Whether a Bounce or IosForeground shows that this Send could not have called the user back.
    func isBlocked(_ send: PlainEvent) -> Bool {
        blockers.contains { compatible($0.device, send.device) }
    }
}

/// The instances of one user, and to which of them each event belongs (section 1 of the attribution rules).
struct Instances {
    private struct DispatchKey: Hashable {
        let message: Message
        let dispatch: Text
    }

    private struct AppKey: Hashable {
        let message: Message
        let app: Text?
    }

    /// All instances in order of their first Send.
    private(set) var all: [Instance] = []
    /// The place in `all` of the instance of each Send.
    private var ofSend: [EventOrder: Int] = [:]
    /// The instances of each dispatch, in order.
    private var ofDispatch: [DispatchKey: [Int]] = [:]
    /// The instances of Sends without dispatch, in order.
    private var withoutDispatch: [AppKey: [Int]] = [:]
    private let span: Int
    private let reach: Int

    /// - Parameter events: the accepted events of one user, in order.
    init(of events: [PlainEvent], settings: PlainSettings) {
        span = settings.span
        reach = settings.reach
        for event in events where event.type == .pushSend {
            add(send: event)
        }
        for event in events {
            switch event.type {
            case .pushBounce, .pushForeground:
                if let place = place(of: event) { all[place].blockers.append(event) }
            case .pushOpen where event.isDirectOpen:
                if let place = place(of: event) { all[place].hasDirectOpen = true }
            default: break
            }
        }
    }

    /// The place in `all` of the instance that a Send, Open, Bounce or IosForeground belongs to.
    func place(of event: PlainEvent) -> Int? {
        if event.type == .pushSend { return ofSend[event.order] }
        if let dispatch = event.dispatch {
            return place(of: event, in: ofDispatch[DispatchKey(message: event.message, dispatch: dispatch)] ?? [])
        }
        let candidates = withoutDispatch[AppKey(message: event.message, app: event.app)] ?? []
        return candidates.last { place in
            let send = all[place].first
            return (0...reach).contains(event.time - send.time) && compatible(event.device, send.device)
        }
    }

    private func place(of event: PlainEvent, in instances: [Int]) -> Int? {
        let before = instances.last { (0...reach).contains(event.time - all[$0].first.time) }
        if let before { return before }
        return instances.first { ahead in
            let distance = all[ahead].first.time - event.time
            return distance > 0 && distance <= span
        }
    }

    private mutating func add(send: PlainEvent) {
        guard let dispatch = send.dispatch else {
            begin(with: send)
            withoutDispatch[AppKey(message: send.message, app: send.app), default: []].append(all.count - 1)
            return
        }
        let key = DispatchKey(message: send.message, dispatch: dispatch)
        if let current = ofDispatch[key]?.last, send.time - all[current].first.time <= span {
            all[current].sends.append(send)
            ofSend[send.order] = current
        } else {
            begin(with: send)
            ofDispatch[key, default: []].append(all.count - 1)
        }
    }

    private mutating func begin(with send: PlainEvent) {
        ofSend[send.order] = all.count
        all.append(Instance(sends: [send]))
    }
}
