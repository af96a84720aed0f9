import Testing
import TidemarkEvents

@Suite struct ErrorPlaceTests {
    /// What is marked of a record when it is refused; `nil` where nothing is.
    private func marked(_ record: String, header: String = "") -> String? {
        let bytes = Array(record.utf8)
        guard case .rejected(let code, let message, _)? = decode(bytes, header: header).first else {
            return "not refused"
        }
        let range = bytes.withUnsafeBytes { ErrorPlace.range(in: ByteView($0), code: code, message: message) }
        return range.map { "\($0.lowerBound):" + String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test func theByteWhereJSONEnds() {
        #expect(marked(#"{"id":}"#) == "6:}")
        #expect(marked(#"{"id":"x""#) == "9:")
        #expect(marked("") == "0:")
    }

    @Test func theValueOfAField() {
        let record = #"{"event_type":"users.messages.pushnotification.Send","id":"e","user_id": 7 ,"time":1}"#
        #expect(marked(record) == "73:7")
        #expect(marked(flat(["time": "[1, {\"id\":2}]"])) == "71:[1, {\"id\":2}]")
        #expect(marked(flat(["user_id": "\"\""])) == "92:\"\"")
        #expect(marked(flat(["event_type": "5"])) == "14:5")
    }

    @Test func ofDuplicateKeysTheLast() {
        #expect(marked(flat().dropLast() + #","time":"late"}"#)?.hasSuffix(":\"late\"") == true)
    }

    @Test func insideTheContainersOfAnHTTPEvent() {
        let record =
            #"{"event_type":"users.messages.pushnotification.Send","id":"e","user":{"user_id":true},"time":1,"properties":{}}"#
        #expect(marked(record) == "80:true")
        let inProperties =
            #"{"event_type":"users.messages.pushnotification.Send","id":"e","user_id":"u","time":1,"properties":{"app_id":[]}}"#
        #expect(marked(inProperties)?.hasSuffix(":[]") == true)
    }

    @Test func aFieldThatIsNotThereHasNoPlace() {
        #expect(marked(flat(["user_id": nil])) == nil)
        #expect(marked("17") == nil)
    }

    @Test func theTimeOfWhatCameAtTheWrongTime() {
        let bytes = Array(flat().utf8)
        for code in [RejectionCode.late, .futureDated] {
            let range = bytes.withUnsafeBytes { ErrorPlace.range(in: ByteView($0), code: code, message: "event time") }
            #expect(range.map { String(decoding: bytes[$0], as: UTF8.self) } == "1767225600")
        }
    }

    @Test func theByteThatARefusalOfAvroNames() {
        let value: [UInt8] = [0, 0, 0, 0, 1, 2, 4]
        func place(_ message: String) -> Range<Int>? {
            value.withUnsafeBytes { ErrorPlace.range(in: ByteView($0), code: .malformed, message: message) }
        }
        #expect(place("not a value of its writer schema x: it ends too soon (byte 6 of 7); send") == 6..<7)
        #expect(place("not a value (byte 7 of 7)") == 7..<7)
        #expect(place("not a value (byte 8 of 7)") == nil)
        #expect(place("user_id is missing") == nil)
    }

    @Test func anyBytesAndAnyMessage() {
        var random = SeededGenerator(state: 5)
        let base = Array(flat(["x": "{\"user\":[{}]}"]).utf8)
        for _ in 0..<3_000 {
            var bytes = base
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(random.next() & 127) }
            let range = bytes.withUnsafeBytes {
                ErrorPlace.range(in: ByteView($0), code: .badType, message: "user_id must be")
            }
            if let range { #expect(range.upperBound <= bytes.count) }
        }
    }
}
