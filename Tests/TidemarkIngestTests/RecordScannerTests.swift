import Testing

@testable import TidemarkIngest

@Suite("Finding records in a file")
struct RecordScannerTests {
    /// The records of a text, and where it breaks off.
    private func records(_ text: String) -> (records: [String], isTruncated: Bool) {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { all in
            var records: [String] = []
            var place = 0
            while true {
                let rest = UnsafeRawBufferPointer(rebasing: all[place...])
                switch RecordScanner.step(rest, isAtEnd: true) {
                case .record(let range):
                    records.append(String(decoding: rest[range], as: UTF8.self))
                    place += range.upperBound
                case .end: return (records, false)
                case .truncated: return (records, true)
                case .more:
                    Issue.record("more is wanted at the end")
                    return (records, true)
                }
            }
        }
    }

    @Test func oneALine() {
        #expect(
            records("{\"a\":1}\n{\"a\":2}\r\n\n  {\"a\":{}} \n{\"a\":3}").records == [
                "{\"a\":1}", "{\"a\":2}", "{\"a\":{}}", "{\"a\":3}",
            ])
        #expect(records("").records == [])
        #expect(records(" \n\t\r\n").records == [])
    }

    @Test func printedOverManyLines() {
        let first = "{\n  \"a\" : {\n    \"string\" : \"}\\\"{ [\"\n  },\n  \"b\" : [ 1, { } ]\n}"
        let second = "{\n\t\"c\": null\n}"
        #expect(records("\(first)\n\(second)\n{\"d\":1}\n").records == [first, second, "{\"d\":1}"])
        #expect(records("\(first)\(second)").records == [first, second])
    }

    @Test func arraysAreOneRecord() {
        let array = "[\n{\"a\":1},\n{\"a\":\"]\"}\n]"
        #expect(records("\(array)\n[]\n[{\"b\":1}]").records == [array, "[]", "[{\"b\":1}]"])
    }

    @Test func whatIsNoJSONIsALine() {
        #expect(records("oops\n{\"a\":1}\n5 \n\"x\n}").records == ["oops", "{\"a\":1}", "5", "\"x", "}"])
    }

    @Test func aBrokenRecordDoesNotSwallowTheNext() {
        #expect(records("{\"a\":\"x\n{\"a\":2}\n").records == ["{\"a\":\"x", "{\"a\":2}"])
        #expect(records("{\"a\":[1,\n{\"a\":2}\n{\"a\":3}").records == ["{\"a\":[1,", "{\"a\":2}", "{\"a\":3}"])
    }

    @Test func whatEndsInTheMiddleIsTruncated() {
        for end in ["{", "{\"a\":\"", "{\"a\":\"\\", "[{\"a\":1},", "{\n \"a\": {\n }"] {
            let found = records("{\"a\":1}\n\(end)")
            #expect(found.records == ["{\"a\":1}"])
            #expect(found.isTruncated, "\(end)")
        }
    }

    @Test func recordsAreTheSameHoweverTheBytesCome() {
        let text = "{\"a\":1}\n{\n \"b\": \"\\\\\\\"}\"\n}\nno\n[{\"c\":[]}]\n{\"d\":2}"
        let whole = records(text).records
        let bytes = Array(text.utf8)
        for piece in 1...bytes.count {
            var (found, place, end) = ([String](), 0, 0)
            loop: while true {
                let isAtEnd = end == bytes.count
                let step = bytes[place..<end].withUnsafeBytes { RecordScanner.step($0, isAtEnd: isAtEnd) }
                switch step {
                case .record(let range):
                    let record = bytes[(place + range.lowerBound)..<(place + range.upperBound)]
                    found.append(String(decoding: record, as: UTF8.self))
                    place += range.upperBound
                case .more: end = min(end + piece, bytes.count)
                case .end, .truncated: break loop
                }
            }
            #expect(found == whole, "pieces of \(piece)")
        }
    }
}
