import Testing

@testable import TidemarkEvents

/// Object container files as values, and blocks of them.
@Suite struct ContainerTests {
    private let schema = recordSchema(plainFields)

    private func value(_ id: String) -> [UInt8] {
        Datum.record([.text(id), .text("u-7"), .long(1_767_225_600)]).encoded
    }

    private func ids(_ outcomes: [Outcome]) -> [String] {
        outcomes.map { $0.fields?["id"] ?? $0.code?.rawValue ?? "skipped" }
    }

    private func message(_ outcome: Outcome) -> String {
        if case .rejected(_, let message, _) = outcome { message } else { "" }
    }

    @Test(arguments: [nil] + ContainerCodec.allCases.map { Optional($0) })
    func everyCodec(codec: ContainerCodec?) {
        let decoder = EventDecoder()
        let long = String(repeating: "long", count: 500)
        for _ in 0..<3 {
            let file = container(schema, [[value("a"), value(long)], [], [value("c")]], codec: codec)
            #expect(ids(decode(file, with: decoder)) == ["a", long, "c"])
        }
        #expect(decode(container(schema, [], codec: codec), with: decoder) == [])
    }

    /// Python's writers cut zlib's format down to deflate, but for three bytes of the checksum.
    @Test func aRestOfTheChecksumBehindDeflateData() {
        let data = compressed(value("a") + value("b"), .deflate) + [0x12, 0x34, 0x56]
        let block = Datum.varint(2) + Datum.varint(Int64(data.count)) + data + testSync
        #expect(ids(decode(container(schema, [], codec: .deflate) + block)) == ["a", "b"])
    }

    @Test func contentThatGrowsBeyondTheFirstBuffer() {
        let values = (0..<20_000).map { value("event number \($0)") }
        for codec in ContainerCodec.allCases {
            let outcomes = decode(container(schema, [values], codec: codec))
            #expect(outcomes.count == 20_000)
            #expect(ids(Array(outcomes.suffix(1))) == ["event number 19999"])
        }
    }

    @Test func anEventOnItsOwnIsAFileToo() {
        let decoder = EventDecoder()
        var event = Event()
        let file = container(schema, [[value("a"), value("")], [value("c")]], codec: .deflate)
        var alone: [[UInt8]] = []
        var indices: [Int?] = []
        file.withUnsafeBytes {
            decoder.begin(ByteView($0))
            while decoder.next(into: &event) != nil {
                let bytes = decoder.elementBytes()
                alone.append(Array(UnsafeBufferPointer(start: bytes.start, count: bytes.count)))
                indices.append(decoder.elementIndex)
            }
        }
        #expect(indices == [0, 1, 2])
        #expect(alone == [value("a"), value(""), value("c")].map { container(schema, [[$0]]) })
        #expect(alone.map { ids(decode($0)) } == [["a"], ["missing_field"], ["c"]])
    }

    @Test func typesOfEventsInAFile() {
        let other = container(recordSchema(plainFields, name: "users.messages.email.Open"), [[value("a"), value("b")]])
        #expect(decode(other) == [.skipped, .skipped])
        let nameless = container(
            schema.replacingName("made.up.users.messages.pushnotification.Send", "S"), [[value("a")]])
        #expect(decode(nameless, topic: .known(.canvasEntry)) == expected(["id": "a"], type: .canvasEntry))
        #expect(decode(nameless).map(\.code) == [.missingField])
    }

    @Test func aValueThatDoesNotFitEndsItsBlock() {
        let broken = value("b").dropLast() + [0xFF]
        let file = container(schema, [[value("a"), Array(broken), value("c")], [value("d")]])
        let outcomes = decode(file)
        #expect(ids(outcomes) == ["a", "malformed", "d"])
        #expect(
            message(outcomes[1]).hasPrefix(
                "not a value of its writer schema made.up.users.messages.pushnotification.Send: an int of more than 32 bits in field time "
                    + "(byte 17 of 33 of the block's content, in value 2 of 3)"))
    }

    @Test func bytesBehindTheLastValue() {
        let file = container(schema, [[value("a"), value("b") + [0]], [value("c")]])
        #expect(ids(decode(file)) == ["a", "malformed", "c"])
    }

    @Test func countsThatCannotBe() {
        for count in [1 << 40, 5_000] {
            let file =
                container(schema, []) + containerBlock(value("a"), count: count) + containerBlock(value("b"), count: 1)
            #expect(ids(decode(file)) == ["malformed", "b"])
        }
        let none = container(schema, []) + containerBlock(value("a"), count: 0) + containerBlock(value("b"), count: 1)
        #expect(ids(decode(none)) == ["malformed", "b"])
        let nothing = container("{\"type\":\"record\",\"name\":\"x.users.canvas.Entry\",\"fields\":[]}", [])
        #expect(ids(decode(nothing + containerBlock([1], count: 1))) == ["malformed"])
    }

    @Test(arguments: [ContainerCodec.deflate, .snappy, .zstandard])
    func damagedContent(codec: ContainerCodec) {
        let good = containerBlock(value("good"), count: 1, codec: codec)
        let content = (0..<50).flatMap { value("event \($0)") }
        let whole = compressed(content, codec)
        for at in [0, whole.count / 2, whole.count - 1] {
            var data = whole
            data[at] ^= 0x55
            let block = Datum.varint(50) + Datum.varint(Int64(data.count)) + data + testSync
            let outcomes = ids(decode(container(schema, [], codec: codec) + good + block + good))
            #expect(outcomes.first == "good" && outcomes.last == "good", "byte \(at)")
            #expect(codec != .snappy || outcomes == ["good", "malformed", "good"], "byte \(at)")
        }
        let data = Array(whole.dropLast(6))
        let block = Datum.varint(50) + Datum.varint(Int64(data.count)) + data + testSync
        #expect(
            ids(decode(container(schema, [], codec: codec) + good + block + good)) == ["good", "malformed", "good"])
    }

    @Test func aDamagedSyncMarkerCostsItsBlock() {
        var file = container(schema, [[value("a")], [value("b")], [value("c")]])
        let blockSize = containerBlock(value("a"), count: 1).count
        file[file.count - blockSize - 1] ^= 1
        let outcomes = decode(file)
        // The marker behind the third block is the next one that can be found.
        #expect(ids(outcomes) == ["a", "malformed"])
        let place = file.count - 2 * blockSize
        #expect(
            message(outcomes[1]).contains("the block at byte \(place) is damaged: its sync marker is not where it ends")
        )
    }

    @Test func aDamagedHeadCostsItsBlock() {
        let blockSize = containerBlock(value("a"), count: 1).count
        let whole = container(schema, [[value("a")], [value("b")], [value("c")]])
        for (change, reason) in [
            ([0x02, 0x0E], "is damaged"), ([0x02, 0xFE], "ends beyond"), ([0x02, 0x01], "does not begin"),
        ]
            as [([UInt8], String)]
        {
            var file = whole
            file.replaceSubrange((file.count - 2 * blockSize)..<(file.count - 2 * blockSize + 2), with: change)
            let outcomes = decode(file)
            #expect(ids(outcomes) == ["a", "malformed", "c"], "\(reason)")
            #expect(message(outcomes[1]).contains("the block at byte \(file.count - 2 * blockSize) \(reason)"))
        }
    }

    @Test func truncatedAtEveryByte() {
        let file = container(schema, [[value("a"), value("b")], [value("c")]], codec: .deflate)
        let header = container(schema, []).count + "avro.codecdeflate".utf8.count + 2
        let first = header + containerBlock(value("a") + value("b"), count: 2, codec: .deflate).count
        for count in 4..<file.count {
            let outcomes = ids(decode(Array(file[..<count])))
            if count == header {
                #expect(outcomes == [])
            } else if count == first {
                #expect(outcomes == ["a", "b"])
            } else {
                #expect(outcomes == (count < first ? [] : ["a", "b"]) + ["malformed"], "\(count) bytes")
            }
        }
    }

    @Test func headersThatCannotBeUsed() {
        func refusal(_ metadata: [(String, Datum)]) -> String {
            message(decode(ContainerHeader.magic + Datum.map(metadata).encoded + testSync)[0])
        }
        #expect(refusal([]).contains("its header has no avro.schema"))
        #expect(refusal([("avro.schema", .text("{"))]).contains("the schema in its header cannot be used"))
        #expect(
            refusal([("avro.schema", .text("\"int\""))])
                == "the writer schema is int: events are records, or a union of records")
        #expect(
            refusal([("avro.schema", .text(schema)), ("avro.codec", .text("bzip2"))])
                .contains("compressed with `bzip2`; Tidemark reads null, deflate, snappy, zstandard"))
        #expect(message(decode(ContainerHeader.magic + [0x02, 0x03])[0]).contains("its header is damaged"))
    }

    @Test func bombsAreDefused() throws {
        let zeros = [UInt8](repeating: 0, count: 3 << 20)
        for codec in [ContainerCodec.deflate, .snappy, .zstandard] {
            let data = compressed(zeros, codec)
            try data.withUnsafeBytes { data in
                let content = try BlockDecompressor(limit: 3 << 20).content(ByteView(data), codec)
                #expect(content.count == zeros.count)
                let strict = BlockDecompressor(limit: 2 << 20)
                do {
                    _ = try strict.content(ByteView(data), codec)
                    Issue.record("\(codec)")
                } catch {
                    #expect("\(error)".contains("it decompresses to more than 2 MiB"), "\(codec)")
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func mutationsNeverCrash(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let decoder = EventDecoder()
        for codec in ContainerCodec.allCases {
            let whole = container(schema, [[value("a"), value("b")], [value("c")], [value("d")]], codec: codec)
            for _ in 0..<500 {
                var file = whole
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let at = Int.random(in: 4..<file.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: file[at] = UInt8(random.next() & 255)
                    case 1: file.insert(UInt8(random.next() & 255), at: at)
                    default: file.remove(at: at)
                    }
                }
                let outcomes = decode(file, with: decoder)
                #expect(outcomes.count <= 8)
                #expect(outcomes == decode(file), "seed \(seed), \(codec)")
            }
        }
    }
}
