import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports

@testable import TidemarkProcessor

@Suite("Records of names")
struct NameRecordTests {
    @Test("A name comes back with its order, whatever characters it and its id have")
    func roundTrip() throws {
        let texts = ["plain", "a\"b\\c/d", "\u{1}\u{8}\t\n\u{c}\r\u{1f}\u{7f}", "名前 😀 é", #"\u0041\""#, "null", " "]
        let source = Names()
        for (number, text) in texts.enumerated() {
            let order = NameOrder(time: UInt32.max - UInt32(number), rank: UInt8(number), eventID: Array(text.utf8))
            source.table.take(
                kind: NamedID.allCases[number % 5], id: source.vocabulary.strings.intern("id " + text),
                name: source.vocabulary.strings.intern(text), order: order)
        }
        let target = Names()
        for slot in source.table.slots {
            let (key, value) = NameRecord.encode(slot, task: 7, epoch: 3, vocabulary: source.vocabulary)
            let named = try target.take(key, value)
            #expect(named?.kind == slot.kind)
        }
        #expect(target.texts == source.texts)
        #expect(target.table.slots.map(\.order) == source.table.slots.map(\.order))
    }

    @Test("Records of other epochs, of the epoch itself, and of older events change nothing")
    func ignored() throws {
        let names = Names()
        #expect(try names.take(#"[0,"c",1]"#, record(name: "new", time: 20)) != nil)
        #expect(try names.take(#"[0,"c",2]"#, record(name: "old", time: 19)) == nil)
        #expect(try names.take(#"[0,"c",2]"#, record(epoch: 4, name: "other", time: 30)) == nil)
        #expect(try names.take(#"[0,"c",2]"#, record(name: "new", time: 40)) == nil)
        #expect(try names.take(String(decoding: Epoch.key, as: UTF8.self), "nonsense") == nil)
        #expect(names.texts == ["c: new"])
        #expect(names.table.slots.first?.order.time == 40)
    }

    @Test(
        "A record that is none is refused",
        arguments: [
            ("nonsense", "{}"), (#"[0,"c"]"#, record()), (#"[0,"c",1,2]"#, record()), (#"[5,"c",1]"#, record()),
            (#"[0,null,1]"#, record()), (#"[0,"c",1]"#, "{}"), (#"[0,"c",1]"#, record() + "}"),
            (#"[0,"c",1]"#, record(time: 1 << 32)), (#"[0,"c",1]"#, record(rank: "256")),
            (#"[0,"c",1]"#, record(rank: "1.5")), (#"[0,"c",1]"#, record(rank: "\"1\"")),
        ])
    func damaged(key: String, value: String) {
        let names = Names()
        #expect(throws: RunFailure.self) { try names.take(key, value) }
        do { _ = try names.take(key, value) } catch {
            #expect("\(error)" == "a record of the names topic cannot be read: \(value)")
        }
        #expect(names.table.slots.isEmpty)
    }
}

private func record(epoch: Int = 3, name: String = "n", time: Int = 1, rank: String = "0") -> String {
    #"{"epoch":\#(epoch),"name":"\#(name)","time":\#(time),"rank":\#(rank),"event_id":"e"}"#
}

private struct Names {
    let vocabulary = Vocabulary(excludedPlatforms: [])
    let table: NameTable

    init() { table = NameTable(vocabulary: vocabulary) }

    var texts: [String] {
        table.slots.map { "\(vocabulary.strings[$0.id].text ?? ""): \(vocabulary.strings[$0.name].text ?? "")" }
    }

    func take(_ key: String, _ value: String) throws -> NamedNumber? { try take(Array(key.utf8), Array(value.utf8)) }

    func take(_ key: [UInt8], _ value: [UInt8]) throws -> NamedNumber? {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                try NameRecord.take(key: key, value: value, epoch: 3, into: table, vocabulary: vocabulary)
            }
        }
    }
}
