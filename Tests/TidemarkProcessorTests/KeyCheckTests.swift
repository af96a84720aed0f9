import Synchronization
import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka

@testable import TidemarkProcessor

@Suite("Check of keys")
struct KeyCheckTests {
    private static let partitions = 6

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let lines = Lines()
    private var said: [String] { lines.all.withLock { $0 } }

    private func check(_ mode: Configuration.Input.KeyCheck, partitions: Int = KeyCheckTests.partitions) -> KeyCheck? {
        KeyCheck(mode, partitions: partitions) { [lines] line in lines.all.withLock { $0.append(line) } }
    }

    private func look(_ check: KeyCheck?, key: String?, user: String, partition: Int32) throws {
        let place = KeyCheck.Place(topic: "events", partition: partition, offset: 17)
        var (key, user) = (key, user)
        try user.withUTF8 { user in
            let userID = ByteView(UnsafeRawBufferPointer(user))
            if key == nil { return try check?.check(key: nil, userID: userID, at: place) ?? () }
            try key?.withUTF8 { try check?.check(key: UnsafeRawBufferPointer($0), userID: userID, at: place) }
        }
    }

    private func partition(_ key: String, _ chosenBy: (UnsafeRawBufferPointer, Int) -> Int32) -> Int32 {
        Array(key.utf8).withUnsafeBytes { chosenBy($0, KeyCheckTests.partitions) }
    }

    private func murmur2(_ key: String) -> Int32 { partition(key) { Murmur2.partition(of: $0, count: $1) } }
    private func crc32(_ key: String) -> Int32 { partition(key) { ConsistentCRC32.partition(of: $0, count: $1) } }

    @Test("CRC-32 as everybody computes it")
    func knownHash() {
        // The check value of the algorithm: 0xCBF43926 for "123456789".
        let partition = Array("123456789".utf8).withUnsafeBytes { ConsistentCRC32.partition(of: $0, count: 1 << 31) }
        #expect(partition == 0xCBF4_3926 % (1 << 31))
    }

    @Test func oneOfTheTwoPartitionersThroughout() throws {
        for chosenBy in [murmur2, crc32] {
            let check = check(.strict)
            for number in 0..<200 {
                try look(check, key: "user-\(number)", user: "user-\(number)", partition: chosenBy("user-\(number)"))
            }
        }
        #expect(said == [])
    }

    @Test func strictRefuses() {
        let keyed = #expect(throws: RunFailure.self) {
            try look(check(.strict), key: "tenant", user: "user", partition: 3)
        }
        #expect(
            keyed?.description.hasPrefix(
                "events[3], offset 17: the key is \"tenant\", but the event's user_id is \"user\".") == true)
        let none = #expect(throws: RunFailure.self) { try look(check(.strict), key: nil, user: "user", partition: 3) }
        #expect(
            none?.description.hasPrefix("events[3], offset 17: there is no key, but the event's user_id is \"user\".")
                == true)
        let wrong = (0..<Int32(KeyCheckTests.partitions)).first { $0 != murmur2("user") && $0 != crc32("user") }
        let placed = #expect(throws: RunFailure.self) {
            try look(check(.strict), key: "user", user: "user", partition: wrong ?? -1)
        }
        #expect(placed?.description.contains("neither murmur2 nor CRC32 puts the key \"user\"") == true)
        for failure in [keyed, none, placed] {
            #expect(failure?.description.hasSuffix("`input.key_check: warn` goes on regardless") == true)
        }
    }

    @Test func warnSaysEachProblemOnce() throws {
        let check = check(.warn)
        let users = (0..<50).map { "user-\($0)" }.filter { murmur2($0) != crc32($0) }
        for user in users {
            try look(check, key: user, user: user, partition: murmur2(user))
            try look(check, key: user, user: user, partition: crc32(user))
            try look(check, key: "\u{1B}[2J", user: user, partition: 0)
        }
        #expect(said.count == 2)
        #expect(
            said[0].contains("was placed by CRC32, but events[\(murmur2(users[0]))], offset 17, was placed by murmur2"))
        #expect(said[1].contains("the key is \"\\u{1B}[2J\""))
    }

    @Test func offLooksAtNothing() { #expect(check(.off) == nil) }

    @Test("with one partition every key belongs there")
    func onePartition() throws { try look(check(.strict, partitions: 1), key: "user", user: "user", partition: 0) }

    @Test func samplesTheFirstOfEachTopicAndSomeLater() {
        var sampler = KeySampler(topics: 2)
        let first = (1...1_024).filter { _ in sampler.isDue(0) }
        #expect(first == Array(1...64) + [256, 512, 768, 1_024])
        let isDue = sampler.isDue(1)
        #expect(isDue)
    }
}
