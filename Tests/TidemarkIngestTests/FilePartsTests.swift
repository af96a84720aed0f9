import Foundation
import Testing
import TidemarkEvents
import TidemarkProcessor

@testable import TidemarkIngest

/// A folder of files that is removed with it.
final class TestFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("ingest-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and the folders that it is in.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let url = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }
}

@Suite("Files of a landing folder")
struct LandingFileTests {
    @Test func filesAreFoundByTheirPathBelowTheFolder() throws {
        let folder = try TestFolder()
        let names = [
            "a.json", "event_type=users.canvas.Entry/date=2026-01-05-10/1/z+0+7.json", "event_type=x.Y/b.ndjson.gz",
        ]
        for name in names.reversed() { try folder.write("{}", to: name) }
        for name in [".hidden", "_SUCCESS", "b.tmp", "c.json.part", "_temporary/0/d.json", ".x/e.json", "f.JSON.TMP"] {
            try folder.write("{}", to: name)
        }
        let files = try LandingFile.files(in: [folder.path])
        #expect(files.map(\.name) == names)
        #expect(files.map(\.type) == ["", "users.canvas.Entry", "x.Y"])
        #expect(files.map(\.size) == [2, 2, 2])
        #expect(files[0].path == "\(folder.path)/a.json")
    }

    @Test func aFileCanBeNamedByItselfAndItsTypeComesFromTheWholePath() throws {
        let folder = try TestFolder()
        let path = try folder.write("{}", to: "event_type=x.Y/a.json")
        let files = try LandingFile.files(in: [path])
        #expect(files.map(\.name) == ["a.json"])
        #expect(files.map(\.type) == ["x.Y"])
        #expect(try LandingFile.files(in: [(path as NSString).deletingLastPathComponent]).map(\.type) == ["x.Y"])
    }

    @Test func whatTheLedgerCouldNotTellApartIsRefused() throws {
        let (one, two) = (try TestFolder(), try TestFolder())
        try one.write("{}", to: "a.json")
        try two.write("{}", to: "a.json")
        #expect(throws: IngestFailure.self) { try LandingFile.files(in: [one.path, two.path]) }
        #expect(try LandingFile.files(in: [one.path, one.path]).count == 1)
        #expect(throws: IngestFailure.self) { try LandingFile.files(in: [one.path + "/nowhere"]) }
    }

    @Test func aFileIsCompleteOnceItHasNotChangedForAWhile() {
        func file(_ size: Int64, _ modified: Int64) -> LandingFile {
            LandingFile(path: "/l/a", name: "a", size: size, modified: modified * 1_000_000_000)
        }
        let start = ContinuousClock.now
        func complete(_ settled: inout SettledFiles, _ file: LandingFile, _ second: Int) -> Bool {
            settled.complete([file], wallClock: Int64(1_000 + second) * 1_000_000_000, now: start + .seconds(second))
                .count == 1
        }
        var settled = SettledFiles(settle: .seconds(10))
        // Written before and renamed: as old as it says.
        #expect(complete(&settled, file(5, 990), 0))
        #expect(!complete(&settled, file(5, 991), 0))
        #expect(complete(&settled, file(5, 991), 1))
        // Growing.
        #expect(!complete(&settled, file(6, 1_002), 2))
        #expect(!complete(&settled, file(7, 1_011), 11))
        #expect(!complete(&settled, file(7, 1_011), 20))
        #expect(complete(&settled, file(7, 1_011), 21))
        // Dated in the future by another host: what counts is how long it has been the same.
        var other = SettledFiles(settle: .seconds(10))
        #expect(!complete(&other, file(5, 9_999), 0))
        #expect(!complete(&other, file(5, 9_999), 9))
        #expect(complete(&other, file(5, 9_999), 10))
        #expect(!complete(&other, file(6, 9_999), 11))
        var at = SettledFiles(settle: .zero)
        #expect(complete(&at, file(5, 9_999), 0))
    }
}

@Suite("Reading files")
struct FileReaderTests {
    private func read(_ path: String) throws -> (records: [String], failure: String?) {
        let reader = try FileReader(path)
        var records: [String] = []
        do {
            while let record = try reader.next() { records.append(record.text ?? "") }
            return (records, nil)
        } catch {
            return (records, error.description)
        }
    }

    private let events = (0..<5_000).map { event($0) }

    @Test func compressedFilesAreReadByHowTheyBegin() throws {
        let folder = try TestFolder()
        let text = Array(events.joined(separator: "\n").utf8)
        #expect(try read(folder.write(text, to: "a")).records == events)
        #expect(try read(folder.write(gzip(text), to: "b")).records == events)
        #expect(
            try read(folder.write(gzip(Array(text[..<1_000])) + gzip(Array(text[1_000...])), to: "c")).records == events
        )
    }

    @Test func whatComesBeforeDamageIsGood() throws {
        let folder = try TestFolder()
        let text = Array(events.joined(separator: "\n").utf8)
        let packed = gzip(text)
        let cut = try read(folder.write(Array(packed.dropLast(20)), to: "a"))
        #expect(cut.records.count > 4_000 && cut.records == Array(events[..<cut.records.count]))
        #expect(cut.failure?.contains("ends in the middle") == true)
        let plain = try read(folder.write(Array(text.dropLast(7)), to: "b"))
        #expect(plain.records == Array(events.dropLast()))
        let place = events.dropLast().reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(plain.failure?.hasSuffix("ends in the middle of the record at byte \(place) of its content") == true)
    }

    @Test func aRecordLargerThanTheBufferIsRead() throws {
        let folder = try TestFolder()
        let large = "{\"x\":\"\(String(repeating: "y", count: 3 << 20))\"}"
        #expect(
            try read(folder.write("\(event(1))\n\(large)\n\(event(2))", to: "a")).records == [
                event(1), large, event(2),
            ])
    }

    @Test func aReaderGoesOnBehindWhatItKnows() throws {
        let folder = try TestFolder()
        let half = try folder.write(events[..<2_000].joined(separator: "\n"), to: "a")
        let reader = try FileReader(half)
        while try reader.next() != nil {}
        let (position, digest) = (reader.position, reader.digest)
        // The same and more, compressed this time.
        let whole = try folder.write(gzip(Array(events.joined(separator: "\n").utf8)), to: "b")
        let next = try FileReader(whole)
        #expect(try next.skip(to: position, digest: digest))
        #expect(try next.next()?.text == events[2_000])
        // Something else.
        let other = try folder.write(events.reversed().joined(separator: "\n"), to: "c")
        #expect(try !FileReader(other).skip(to: position, digest: digest))
        #expect(try !FileReader(folder.write("{}", to: "d")).skip(to: position, digest: digest))
    }

    @Test func containerFilesAreNamed() throws {
        let folder = try TestFolder()
        let failure = #expect(throws: LineFile.Failure.self) {
            try FileReader(folder.write("Obj\u{1}xyz", to: "a.avro"))
        }
        #expect(failure?.description.contains("Avro container file") == true)
    }
}

@Suite("The ledger of files")
struct LedgerEntryTests {
    @Test func anEntryReadsBackTheSame() {
        let file = LandingFile(path: "/l/a", name: "a", size: 5, modified: 1_767_225_600_123_456_789)
        var entry = LedgerEntry(file)
        #expect(!entry.covers(file))
        entry.state = .damaged
        (entry.position, entry.hash, entry.events, entry.deadLetters) = (7, "00ff", 3, 1)
        entry.problem = "/l/a: \"cut\""
        let again = entry.value.withUnsafeBytes { LedgerEntry($0) }
        #expect(again == entry)
        #expect(
            String(decoding: entry.value, as: UTF8.self)
                == "{\"dead_letters\":1,\"events\":3,\"hash\":\"00ff\",\"modified\":1767225600123456789,\"position\":7,"
                + "\"problem\":\"/l/a: \\\"cut\\\"\",\"size\":5,\"state\":\"damaged\"}")
        #expect(entry.covers(file))
        #expect(!entry.covers(LandingFile(path: "/l/a", name: "a", size: 6, modified: file.modified)))
        #expect(!entry.covers(LandingFile(path: "/l/a", name: "a", size: 5, modified: 1)))
        #expect(Array("{".utf8).withUnsafeBytes { LedgerEntry($0) } == nil)
    }
}
