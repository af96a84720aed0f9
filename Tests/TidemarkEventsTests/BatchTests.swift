import Testing
import TidemarkEvents

/// Bad elements of a batch fail alone, and their own bytes can be had.
@Suite struct BatchTests {
    static let bad: [(String, RejectionCode)] = [
        (flat(["id": nil]), .missingField), ("{ \"event_type\" : \"users.canvas.Entry\" }", .missingField),
        ("5", .badType), ("-1.5e3", .badType), ("null", .badType), ("\"a \\\" ] } , \\\\\"", .badType),
        ("[]", .badType),
        ("[[1, {\"a\": \"]\"}]]", .badType), ("{}", .missingField), ("{\"events\":[{}]}", .badType),
        ("{\"events\":[]}", .badType), (flat(["time": "-5", "x": "{\"y\":[\"}\"]}"]), .badType),
        (flat(["platform": "[\"é😀\\u0041\"]"]), .badType), (flat(["time": "1e400"]), .badType), ("false", .badType),
    ]

    @Test(arguments: ["[%]", "{\"events\":[%]}", " {\"a\":[1,{\"b\":\"]\"}],\"\\u0065vents\" :\n[%\t] , \"z\":null}"])
    func badElementsFailAlone(frame: String) {
        for separator in [",", " ,\n\t"] {
            let elements = Self.bad.flatMap { [flat(), $0.0] } + [flat()]
            let outcomes = decode(frame.replacing("%", with: elements.joined(separator: separator)))
            #expect(outcomes.count == elements.count)
            for (index, outcome) in outcomes.enumerated() {
                if index.isMultiple(of: 2) {
                    #expect(outcome == expected()[0])
                } else if case .rejected(let code, _, let bytes) = outcome {
                    #expect(code == Self.bad[index / 2].1, "\(elements[index])")
                    #expect(bytes == elements[index])
                } else {
                    Issue.record("\(elements[index]) came out as \(outcome)")
                }
            }
        }
    }

    @Test func anArrayOfBatchesIsRefused() {
        let outcomes = decode("[{\"events\":[\(flat())]}]")
        #expect(outcomes.map(\.code) == [.badType])
        #expect("\(outcomes)".contains("a batch inside a batch"))
    }

    @Test func theLastOfDuplicateEventsGivesTheSlices() {
        let outcomes = decode("{\"events\":[1,2],\"x\":0,\"events\":[ 3 ]}")
        guard case .rejected(.badType, _, let bytes) = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(outcomes.count == 1)
        #expect(bytes == "3")
    }

    @Test func goodElementsHaveBytesToo() {
        let elements = (0..<5).map { flat(["id": "\"e-\($0)\""]) }
        let record = Array("[ \(elements.joined(separator: " , ")) ]".utf8)
        let decoder = EventDecoder()
        var event = Event()
        record.withUnsafeBytes { value in
            #expect(decoder.begin(ByteView(value)) == .batch)
            for (index, element) in elements.enumerated() {
                #expect(decoder.next(into: &event) == .event)
                #expect(decoder.elementIndex == index)
                #expect(decoder.elementBytes().text == element)
                #expect(decoder.elementBytes().text == element)
            }
            #expect(decoder.next(into: &event) == nil)
        }
    }

    @Test func anAbandonedBatchLeavesNothingBehind() {
        let decoder = EventDecoder()
        #expect(decode(Array("[5,6,7]".utf8), with: decoder).count == 3)
        var event = Event()
        Array("[5,6]".utf8).withUnsafeBytes { value in
            decoder.begin(ByteView(value))
            #expect(decoder.next(into: &event) != nil)
        }
        #expect(decode(Array(flat().utf8), with: decoder) == expected())
        #expect(decode([], with: decoder).map(\.code) == [.malformed])
        #expect(decode(Array("[".utf8), with: decoder).map(\.code) == [.malformed])
        #expect(decode(Array(flat().utf8), with: decoder) == expected())
    }

    @Test func manyBadElementsAreOnePass() {
        let record = "[" + Array(repeating: "7", count: 200_000).joined(separator: ",") + "]"
        let outcomes = decode(record)
        #expect(outcomes.count == 200_000)
        #expect(outcomes.allSatisfy { $0.code == .badType })
    }
}
