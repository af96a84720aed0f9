internal import Synchronization
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Looks at the keys of some records: each must be the `user_id` of its event, and in the partition where a producer puts that key.
///
/// All of a user's events must meet in one task. With keys of something else, or with producers that disagree on where a key belongs, they do
/// not, and nothing else would tell. Shared by all workers of a process, because the partitioner must be the same everywhere.
final class KeyCheck: Sendable {
    /// The ways in which producers choose the partition of a key.
    private struct Partitioners: OptionSet {
        let rawValue: UInt8
        static let murmur2 = Partitioners(rawValue: 1)
        static let crc32 = Partitioners(rawValue: 2)
        static let all: Partitioners = [.murmur2, .crc32]

        var name: String { self == .murmur2 ? "murmur2" : "CRC32" }
    }

    /// What can be wrong; each is said once.
    private enum Problem { case key, partition, mixture }

    private struct State {
        /// Partitioners that all keys so far agree with.
        var possible = Partitioners.all
        /// The record that left only one.
        var deciding = ""
        var said: Set<Problem> = []
    }

    /// Where a record is.
    struct Place {
        var topic: String
        var partition: Int32
        var offset: Int64
    }

    private let isStrict: Bool
    private let partitions: Int
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// A check of topics with so many partitions; `nil` where the settings want none.
    init?(_ mode: Configuration.Input.KeyCheck, partitions: Int, log: @escaping @Sendable (String) -> Void) {
        guard mode != .off else { return nil }
        isStrict = mode == .strict
        self.partitions = partitions
        self.log = log
    }

    /// Looks at a record.
    ///
    /// - Throws: under `strict`, what is wrong and what to do.
    func check(key: UnsafeRawBufferPointer?, userID: ByteView, at place: Place) throws(RunFailure) {
        let here = "\(place.topic)[\(place.partition)], offset \(place.offset)"
        guard let key, ByteView(key) == userID else {
            let seen = key.map { "the key is \(KeyCheck.text($0))" } ?? "there is no key"
            return try report(
                .key,
                "\(here): \(seen), but the event's user_id is \(KeyCheck.text(KeyCheck.bytes(userID))). Events of a user would be spread over "
                    + "partitions and counted apart: have the producer use the user_id as the key, and begin with topics that are keyed so"
            )
        }
        var fits: Partitioners = []
        if Murmur2.partition(of: key, count: partitions) == place.partition { fits.insert(.murmur2) }
        if ConsistentCRC32.partition(of: key, count: partitions) == place.partition { fits.insert(.crc32) }
        guard !fits.isEmpty else {
            return try report(
                .partition,
                "\(here): neither murmur2 nor CRC32 puts the key \(KeyCheck.text(key)), the event's user_id, there "
                    + "(they give \(Murmur2.partition(of: key, count: partitions)) and \(ConsistentCRC32.partition(of: key, count: partitions)) of "
                    + "\(partitions) partitions). Events of a user would be spread over partitions and counted apart: set the producer's "
                    + "partitioner (murmur2 in Java clients, partitioner=murmur2_random in librdkafka), and begin with topics that are written so; "
                    + "do not add partitions to topics that have records")
        }
        let contradiction: String? = state.withLock { state in
            let left = state.possible.intersection(fits)
            if left.isEmpty { return state.deciding }
            if left != state.possible { state.deciding = "\(here), was placed by \(left.name)" }
            state.possible = left
            return nil
        }
        guard let contradiction else { return }
        try report(
            .mixture,
            "\(here): the key \(KeyCheck.text(key)), the event's user_id, was placed by \(fits.name), but \(contradiction). Events of "
                + "a user that several producers write would be spread over partitions and counted apart: give all producers the same partitioner "
                + "(murmur2 in Java clients, partitioner=murmur2_random in librdkafka), and begin with topics that are written so"
        )
    }

    private func report(_ problem: Problem, _ text: String) throws(RunFailure) {
        if isStrict { throw RunFailure(text + ". `input.key_check: warn` goes on regardless") }
        guard state.withLock({ $0.said.insert(problem).inserted }) else { return }
        log(text)
    }

    private static func bytes(_ view: ByteView) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: view.start, count: view.count)
    }

    /// Bytes for people: not too many, and nothing that would upset a terminal.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix(80), as: UTF8.self).debugDescription + (bytes.count > 80 ? "…" : "")
    }
}

/// Says which records of a task are looked at: the first ones of each topic, and some later.
struct KeySampler {
    private static let first = 64
    private static let every = 256
    private var counts: [Int]

    init(topics: Int) { counts = Array(repeating: 0, count: topics) }

    /// Counts a record.
    mutating func isDue(_ topic: Int) -> Bool {
        counts[topic] &+= 1
        return counts[topic] <= KeySampler.first || counts[topic] % KeySampler.every == 0
    }
}
