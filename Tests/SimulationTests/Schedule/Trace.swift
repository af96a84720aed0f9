/// What happened in a simulation, for people, and a hash of all steps, for telling whether two runs went the same way.
final class Trace {
    let seed: UInt64
    /// Whether steps become lines, too.
    private let isComplete: Bool
    private var lines: [String] = []
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// How often each kind of thing went wrong.
    private(set) var figures: [String: Int] = [:]

    init(seed: UInt64, isComplete: Bool) {
        self.seed = seed
        self.isComplete = isComplete
    }

    /// Notes a step of a thread.
    func note(_ step: StaticString, _ thread: String, _ now: Duration) {
        step.withUTF8Buffer { mix($0) }
        mix(thread.utf8)
        mix(CollectionOfOne(UInt8(truncatingIfNeeded: now.components.attoseconds / 1_000_000_000_000)))
        if isComplete { add("\(thread): \(step)", now) }
    }

    /// Notes what went wrong, or another turn of the story.
    func tell(_ what: String, counted figure: String? = nil, _ now: Duration) {
        if let figure { figures[figure, default: 0] += 1 }
        mix(what.utf8)
        add(what, now)
    }

    private func add(_ line: String, _ now: Duration) {
        let milliseconds = now.components.seconds * 1_000 + now.components.attoseconds / 1_000_000_000_000_000
        lines.append("\(milliseconds) ms  \(line)")
    }

    private func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// The story so far.
    var text: String { lines.joined(separator: "\n") }
}
