import Foundation
import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// More events than memory may take: nothing that comes out may depend on it.
@Suite("Spilling of a replay")
struct SpillTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("spill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func rules(_ settings: PlainSettings) -> AttributionRules {
        var rules = AttributionRules(settings)
        rules.allowedLateness = nil
        rules.futureTolerance = 86_400
        return rules
    }

    private var leftFiles: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) } }

    @Test("any limit, any number of threads: rows, counts and refusals are those of a replay in memory")
    func equalToMemory() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = PlainSettings()
        var spilling = 0
        for seed in UInt64(1)...60 {
            var random = SplitMix64(seed: seed)
            let stream = EdgeStream(seed: seed, events: 200, horizon: 20 * 86_400, settings: settings)
            let lines = ReplayLines.make(stream, &random)
            let now = Int64(stream.events.map(\.time).max() ?? 0) * 1_000
            let cuts = (0..<30).map { _ in Int.random(in: 0...lines.count, using: &random) }.sorted()
            // Zero writes every piece's users on their own; the others let some pieces come together first.
            let limit = [0, 4_000, 12_000].randomElement(using: &random) ?? 0
            let threads = Int(seed % 4) + 1
            let plain = ReplayTask(
                rules: rules(settings), settings: ReportSettings(), days: .utc, limits: DecoderLimits())
            let bounded = ParallelReplay(
                rules: rules(settings), settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
                threadCount: threads, memory: ReplayMemory(userBytes: limit, directory: folder.path))
            try ReplayLines.feed(lines, time: now, cuts: cuts, to: plain)
            try ReplayLines.feed(lines, time: now, cuts: cuts, to: bounded)
            let sinks: [any ReplaySink] = [plain, bounded]
            let results = try sinks.map { try ReplayResult(finishing: $0) }
            #expect(results[0] == results[1], "seed \(seed), limit \(limit), \(threads) threads")
            #expect(results[0].counts.duplicates > 0, "seed \(seed)")
            let figures = bounded.figures
            #expect(figures.readBackBytes == figures.spilledBytes, "seed \(seed)")
            #expect(figures.spilledBytes > 0 || limit > 0, "seed \(seed)")
            spilling += figures.spilledBytes > 0 ? 1 : 0
        }
        #expect(spilling > 45)
        #expect(try leftFiles == [])
    }

    @Test("enough memory: nothing is written")
    func fits() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stream = EdgeStream(seed: 3, events: 200, horizon: 20 * 86_400, settings: PlainSettings())
        let sink = ParallelReplay(
            rules: rules(PlainSettings()), settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
            threadCount: 2, memory: ReplayMemory(userBytes: 64 << 20, directory: "/nowhere"))
        try ReplayLines.feed(stream.events.map { $0.json(.flatWithType) }, time: .max / 4, cuts: [], to: sink)
        #expect(try ReplayResult(finishing: sink).eventCount == stream.events.count)
        #expect(sink.figures.spilledBytes == 0)
    }

    /// Rows and opens of a task, as a consumer of the topics would hold them.
    private func outcome(_ task: TaskState, _ settings: PlainSettings) -> (rows: [UInt8], opens: [[UInt8]: [UInt8]]) {
        let store = RowStore(vocabulary: task.vocabulary)
        store.apply(task.pass.deltas)
        var json = JSONWriter()
        Report(store: store, names: task.pass.names, rules: rules(settings), settings: ReportSettings())
            .writeLines(to: &json)
        let bytes = task.pass.opens.bytes
        var opens: [[UInt8]: [UInt8]] = [:]
        for change in task.pass.opens.changes { opens[Array(bytes[change.key])] = Array(bytes[change.value]) }
        return (json.bytes, opens)
    }

    @Test(
        "users come back whole, with rows and opens, when the hashes of their ids collide and when they are larger than any buffer"
    )
    func collisions() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = PlainSettings()
        settings.uniqueRetention = 90 * 86_400
        var opens = 0
        for seed in UInt64(1)...40 {
            var random = SplitMix64(seed: seed)
            let events = EdgeStream(seed: seed, events: 600, horizon: 20 * 86_400, settings: settings).events
            let tasks = (0..<2).map { _ in ReplayTask.makeTask(rules(settings), ReportSettings(), .utc) }
            let spilled = try SpilledUsers(in: folder.path)
            let buffer = EventBuffer()
            let decoder = EventDecoder()
            var event = Event()
            var start = 0
            while start < events.count {
                let end = min(events.count, start + Int.random(in: 1...120, using: &random))
                for sample in events[start..<end] {
                    sample.json(.flatWithType).withUnsafeBytes { bytes in
                        decoder.begin(ByteView(bytes))
                        // Three hashes for all users.
                        while let next = decoder.next(into: &event) {
                            if case .event = next { buffer.append(event, userHash: event.userID.hash64 % 3) }
                        }
                    }
                }
                for task in tasks { task.takeForwarded(buffer) }
                buffer.removeAll()
                try spilled.take(usersOf: tasks[1])
                #expect(tasks[1].userCount == 0 && tasks[1].byteCount == 0)
                start = end
            }
            let userCount = tasks[0].userCount
            tasks[0].settle(output: [.rows, .opens])
            var told = (users: 0, bytes: Int64(0))
            try spilled.settle(by: tasks[1], output: [.rows, .opens], memory: 0) {
                told = ($0, $1)
                return true
            }
            let results = tasks.map { outcome($0, settings) }
            #expect(results[0].rows == results[1].rows, "seed \(seed)")
            #expect(results[0].opens == results[1].opens, "seed \(seed)")
            #expect(tasks[0].counts == tasks[1].counts, "seed \(seed)")
            #expect(told == (userCount, spilled.byteCount), "seed \(seed)")
            opens += results[0].opens.count
        }
        #expect(opens > 0)
        #expect(try leftFiles == [])
    }

    @Test("a run is read through a buffer that is smaller than what it has of one user")
    func smallBuffers() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try SpillFile(in: folder.path)
        let contents: [[UInt8]] = (0..<40).map { number in Array(repeating: UInt8(number), count: number * 97) }
        var bytes: [UInt8] = []
        for (number, piece) in contents.enumerated() {
            var head = [UInt8](repeating: 0, count: SpillRun.Head.size)
            head.withUnsafeMutableBytes { target in
                guard let base = target.baseAddress else { return }
                SpillRun.Head(userHash: UInt64(number), size: UInt32(piece.count)).store(to: base)
            }
            bytes += head + piece
        }
        try bytes.withUnsafeBytes { try file.append($0) }
        for size in [0, 50, 1_000, 1 << 20] {
            let run = try SpillRun(file, 0..<file.byteCount, bufferSize: size)
            for (number, piece) in contents.enumerated() {
                #expect(run.head?.userHash == UInt64(number))
                #expect(Array(run.piece) == piece)
                try run.advance()
            }
            #expect(run.head == nil)
        }
    }

    @Test("buffers share the memory there is, within bounds")
    func bufferSizes() {
        #expect(SpillRun.bufferSize(memory: 8 << 20, runs: 64) == 128 << 10)
        #expect(SpillRun.bufferSize(memory: 8 << 20, runs: 1) == 256 << 10)
        #expect(SpillRun.bufferSize(memory: 8 << 20, runs: 100_000) == 4 << 10)
        #expect(SpillRun.bufferSize(memory: 8 << 20, runs: 0) == 256 << 10)
    }

    @Test("a folder that cannot be written to, or a full disk, ends the replay with what, where and what to do")
    func failures() throws {
        try FileManager.default.removeItem(at: folder)
        let stream = EdgeStream(seed: 3, events: 2_000, horizon: 20 * 86_400, settings: PlainSettings())
        let lines = stream.events.map { $0.json(.flatWithType) }
        let sink = ParallelReplay(
            rules: rules(PlainSettings()), settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
            threadCount: 3, memory: ReplayMemory(userBytes: 0, directory: folder.path))
        let failure = #expect(throws: ReplayFailure.self) {
            try ReplayLines.feed(lines, time: .max / 4, cuts: Array(stride(from: 10, to: 2_000, by: 10)), to: sink)
            _ = try sink.finish()
        }
        #expect(
            failure?.description.hasPrefix(
                "cannot make a temporary file in \(folder.path): No such file or directory. It takes") == true)
        // It stays failed.
        #expect(throws: ReplayFailure.self) { try sink.take(RecordPiece()) }

        let full = SpillFile(descriptor: open("/dev/full", O_RDWR), in: "/dev")
        let noSpace = #expect(throws: ReplayFailure.self) { try [1, 2, 3].withUnsafeBytes { try full.append($0) } }
        #expect(
            noSpace?.description
                == "cannot write to a temporary file in /dev after 0 MB: No space left on device. It takes the events that do "
                + "not fit into limits.memory; --spill-directory or TMPDIR names another directory, which should have a "
                + "tenth of the input's size free")
    }
}
