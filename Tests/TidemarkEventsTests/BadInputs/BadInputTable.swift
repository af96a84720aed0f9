import Testing
import TidemarkEvents

/// A record that is refused, with exactly what is said of it.
struct BadInputRow: CustomTestStringConvertible {
    let name: String
    let record: [UInt8]
    var header = ""
    let code: RejectionCode
    let message: String

    init(_ name: String, _ record: String, header: String = "", _ code: RejectionCode, _ message: String) {
        self.init(name, Array(record.utf8), header: header, code, message)
    }

    init(_ name: String, _ record: [UInt8], header: String = "", _ code: RejectionCode, _ message: String) {
        self.name = name
        self.record = record
        self.header = header
        self.code = code
        self.message = message
    }

    var testDescription: String { name }
}

/// All kinds of bad inputs: one row each, so that a change of what people get to read shows here.
///
/// A list per wire format and kind; those of a new format belong into an extension in a file of its own, and into `all`.
enum BadInputTable {
    static let all =
        notJSON + bytes + nesting + shapes + fields + numbers + duplicates + lengths + truncated

    /// A record with text beyond ASCII, escapes, a number and words, cut at every byte.
    static let truncated: [BadInputRow] = {
        let record = Array(#"{"id":"é\ud83d\ude00\n","n":[-1.5e+3,true,false,null,{}]}"#.utf8)
        // The first character beyond ASCII begins at byte 7: one cut short is named by its beginning.
        return (1..<record.count).map { count in
            BadInputRow(
                "cut after \(count) bytes", Array(record[..<count]), .malformed,
                "not valid JSON at byte \(count == 8 ? 7 : count) of \(count): the JSON ends too soon; it may have been cut off"
            )
        }
    }()
}

@Suite struct BadInputTableTests {
    @Test(arguments: BadInputTable.all)
    func saysExactlyThis(row: BadInputRow) {
        let outcomes = decode(row.record, header: row.header)
        guard outcomes.count == 1, case .rejected(let code, let message, _) = outcomes[0] else {
            Issue.record("\(row.name): \(outcomes)")
            return
        }
        #expect(code == row.code, "\(row.name): \(message)")
        #expect(message == row.message, "\(row.name)")
        #expect(message.utf8.count < 400 && !message.contains("\n"), "\(row.name)")
    }

    @Test func namesAreUnlike() {
        #expect(Set(BadInputTable.all.map(\.name)).count == BadInputTable.all.count)
        #expect(BadInputTable.all.count > 200)
    }
}
