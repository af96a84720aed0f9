import CZlib
import CZstd
import Foundation
import Testing
import TidemarkAttribution
import TidemarkConfiguration
import TidemarkEvents
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// Object container files in a replay: the same report as from lines of JSON, and what is damaged costs no more than itself.
@Suite("Replay of container files")
struct ContainerReplayTests {
    private struct Result: Equatable {
        var rows: [UInt8]
        var counts: VerdictCounts
        var refusals: [String]
    }

    private let folder: URL
    private let settings = PlainSettings()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("avro-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }

    /// What a replay comes to on one thread and on several; both must be the same.
    private func replay(_ paths: [String]) throws -> Result {
        var rules = AttributionRules(settings)
        rules.allowedLateness = nil
        let report = ReportSettings()
        let limits = DecoderLimits()
        let sinks: [any ReplaySink] = [
            ReplayTask(rules: rules, settings: report, days: .utc, limits: limits),
            ParallelReplay(rules: rules, settings: report, days: .utc, limits: limits, threadCount: 3),
        ]
        let results = try sinks.map { sink in
            try ReplayFiles(paths, recordTime: .max / 4).read(into: sink)
            var json = JSONWriter()
            try sink.finish().writeLines(to: &json)
            return Result(
                rows: json.bytes, counts: sink.figures.counts,
                refusals: sink.figures.refusals.map { "\($0.place): \($0.rejection)" })
        }
        #expect(results[0] == results[1])
        return results[1]
    }

    private func files(
        _ events: [SampleEvent], codec: (name: String, compress: ([UInt8]) -> [UInt8])?,
        wrap: ([UInt8]) -> [UInt8] = { $0 }
    ) throws -> [String] {
        let byType = Dictionary(grouping: events, by: \.eventType)
        return try byType.sorted { $0.key < $1.key }.map { type, events in
            var file = AvroSampleFile(eventType: type, valuesPerBlock: 37, codec: codec)
            for event in events { file.append(event) }
            file.endBlock()
            return try write(wrap(file.bytes), "\(codec?.name ?? "plain")/event_type=\(type)/part.avro")
        }
    }

    @Test("the report of container files of every codec is that of the same events as JSON, byte for byte")
    func sameAsJSON() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stream = EdgeStream(seed: 9, events: 6_000, horizon: 20 * 86_400, settings: settings)
        let lines = try write(stream.events.flatMap { $0.json(.flatWithType) + [0x0A] }, "events.ndjson")
        let expected = try replay([lines])
        #expect(expected.rows.count > 10_000)
        #expect(try replay(files(stream.events, codec: nil)) == expected)
        #expect(try replay(files(stream.events, codec: ("deflate", deflated))) == expected)
        #expect(try replay(files(stream.events, codec: ("zstandard", zstandard))) == expected)
        // A file that is compressed as a whole is one too.
        #expect(try replay(files(stream.events, codec: nil, wrap: zstandard)) == expected)
        // Files of both kinds, one after the other: every event comes twice.
        let both = try replay([lines] + files(stream.events, codec: nil))
        #expect(both.rows == expected.rows)
        #expect(both.counts.duplicates == 2 * expected.counts.duplicates + expected.counts.accepted)
    }

    /// Three blocks of two sessions each, and where each begins.
    private func sample() -> (bytes: [UInt8], blocks: [Int]) {
        var file = AvroSampleFile(eventType: EventType.sessionStart.wireName, valuesPerBlock: 2)
        var blocks: [Int] = []
        for number in 0..<6 {
            if number % 2 == 0 { blocks.append(file.bytes.count) }
            file.append(session("s-\(number)"))
        }
        return (file.bytes, blocks)
    }

    private func session(_ id: String) -> SampleEvent {
        var event = EdgeStream(seed: 1, events: 1, horizon: 86_400, settings: settings).events[0]
        event.eventType = EventType.sessionStart.wireName
        event.id = id
        event.sessionID = id
        event.appID = "app"
        return event
    }

    private func check(
        _ bytes: [UInt8], _ accepted: Int, _ refusals: [(Int, String)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = try write(bytes, "broken.avro")
        let result = try replay([path, try write(sample().bytes, "whole.avro")])
        // The file behind it is whole: what both have is there twice.
        #expect(result.counts.accepted == 6, sourceLocation: sourceLocation)
        #expect(result.counts.duplicates == accepted, sourceLocation: sourceLocation)
        #expect(
            result.refusals == refusals.map { "\(path) block at byte \($0): malformed: \($1)" },
            sourceLocation: sourceLocation)
    }

    @Test("a damaged block costs itself, and is named with its file and place")
    func damagedBlocks() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (whole, blocks) = sample()
        let size = blocks[2] - blocks[1]
        try check(whole, 6, [])

        var head = whole
        head[blocks[1]] = 0x03
        let passed = "\(size) bytes are passed over; copy the file again"
        try check(head, 4, [(blocks[1], "the block is damaged: it does not begin as a block does. \(passed)")])

        // The marker of the next block is the first that is found.
        var marker = whole
        marker[blocks[2] - 3] ^= 0xFF
        try check(
            marker, 2,
            [
                (
                    blocks[1],
                    "the block is damaged: its sync marker is not where it ends; it should hold 2 events. \(2 * size) bytes are passed over; "
                        + "copy the file again"
                )
            ])

        var length = whole
        length[blocks[1] + 1] ^= 0x02
        try check(
            length, 4,
            [
                (
                    blocks[1],
                    "the block is damaged: its sync marker is not where it ends; it should hold 2 events. \(passed)"
                )
            ])

        let cut = Array(whole[..<(blocks[2] + 20)])
        try check(
            cut, 4,
            [
                (
                    blocks[2],
                    "the block is damaged: the file ends within it; it should hold 2 events. 20 bytes are passed over; copy the file again"
                )
            ])
        try check(Array(whole[..<blocks[2]]), 4, [])
    }

    @Test("within a block, events before one that cannot be read count")
    func damagedValues() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (whole, blocks) = sample()
        // The length of the id of the second event: behind head and first event.
        var first: [UInt8] = []
        session("s-2").appendAvro(to: &first)
        let place = blocks[1] + 3 + first.count
        #expect(whole[place] == 6)
        whole[place] = 0x01
        let path = try write(whole, "broken.avro")
        let result = try replay([path])
        #expect(result.counts.accepted == 5)
        #expect(result.refusals.count == 1)
        #expect(
            result.refusals[0].hasPrefix(
                "\(path) block at byte \(blocks[1]): malformed: not a value of its writer schema tidemark.sample.users.behaviors.app.SessionStart: "
                    + "a negative length in field id (byte \(first.count) of"))
        #expect(result.refusals[0].contains("in value 2 of 2"))
    }

    @Test("an event that is refused is named with its number in the block")
    func refusedValues() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var file = AvroSampleFile(eventType: EventType.sessionStart.wireName)
        for id in ["s-0", "", "s-2"] { file.append(session(id)) }
        let start = file.bytes.count
        file.endBlock()
        let path = try write(file.bytes, "refused.avro")
        let result = try replay([path])
        #expect(result.counts.accepted == 2)
        #expect(
            result.refusals == [
                "\(path) block at byte \(start): missing_field: id is empty; every event of this type must have it (value 2 of 3)"
            ])
    }

    @Test("a file without a usable header is one refusal, and the next file is read")
    func headers() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (whole, blocks) = sample()
        for (bytes, code, reason) in [
            (Array(whole[..<4]), "malformed", "its header ends in the middle"),
            (Array(whole[..<(blocks[0] - 1)]), "malformed", "its header ends in the middle"),
            ([0x4F, 0x62, 0x6A, 0x01, 0x00] + AvroSampleFile.sync, "malformed", "its header has no avro.schema"),
            ([0x4F, 0x62, 0x6A, 0x01, 0x02, 0x03], "malformed", "its header is damaged"),
        ] {
            let path = try write(bytes, "broken.avro")
            let result = try replay([path, try write(whole, "whole.avro")])
            #expect(result.counts.accepted == 6)
            #expect(result.refusals == ["\(path) offset 0: \(code): nothing of the file can be read: \(reason)"])
        }
    }

    private func deflated(_ content: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var (input, output) = (content, [UInt8](repeating: 0, count: content.count + 1_000))
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                #expect(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return Array(output[..<(output.count - Int(stream.avail_out))])
            }
        }
    }

    private func zstandard(_ content: [UInt8]) -> [UInt8] {
        var data = [UInt8](repeating: 0, count: ZSTD_compressBound(content.count))
        let size = ZSTD_compress(&data, data.count, content, content.count, 3)
        return Array(data[..<size])
    }
}

/// The writer schemas that settings name.
@Suite("Configured schemas")
struct InputSchemaTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("avsc-\(UUID().uuidString)")

    private func write(_ text: String, _ name: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    private func schemas(_ set: [String]) throws -> InputSchemas {
        try InputSchemas(try Configuration.load(file: nil, environment: [:], overrides: set).input)
    }

    @Test("files of topics and others, each read once")
    func files() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let send = try write(SampleEvent.avroSchema(of: EventType.pushSend.wireName), "send.avsc")
        let open = try write(SampleEvent.avroSchema(of: EventType.pushOpen.wireName), "open.avsc")
        let schemas = try schemas([
            "input.avro_schemas.sends=\(send)", "input.avro_schemas.more.sends=\(send)",
            "input.avro_schema_files=\(open),\(send)",
        ])
        #expect(schemas.ofTopics.keys.sorted() == ["more.sends", "sends"])
        #expect(schemas.ofTopics["sends"] === schemas.ofTopics["more.sends"])
        #expect(schemas.all.map(\.eventType) == [.known(.pushOpen), .known(.pushSend)])
        #expect(try self.schemas([]).all.isEmpty)
    }

    @Test("what is no schema of events is refused with its setting and file")
    func refusals() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try write("{}", "broken.avsc")
        let number = try write("\"int\"", "int.avsc")
        for (set, reason) in [
            (
                "input.avro_schema_files=/nowhere.avsc",
                "input.avro_schema_files: cannot read /nowhere.avsc: No such file or directory"
            ),
            (
                "input.avro_schemas.t=\(text)",
                "input.avro_schemas.t: \(text): the schema: an object that defines a type must have `type`"
            ),
            (
                "input.avro_schemas.t=\(number)",
                "input.avro_schemas.t: \(number): the schema is int, and events are records: give the schema of their record"
            ),
        ] {
            do {
                _ = try schemas([set])
                Issue.record("\(set)")
            } catch { #expect("\(error)" == reason) }
        }
    }
}
