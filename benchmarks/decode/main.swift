// How many events a second of processor time decodes, in each encoding: `swift run -c release decode-benchmark`.
//
// The events are those of push campaigns in the field sets of storage exports: of ten, six Sends, one Open and three session starts. They are
// made once; what is timed is decoding alone, on one thread, best and median of the rounds. Nothing is written anywhere.

import Glibc
import TidemarkEvents

let eventCount = 200_000
let rounds = 9

func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Times `body`, which gives back how many events it has decoded, and prints what came of it.
func measure(_ name: String, bytes: Int, _ body: () -> Int) {
    var seconds: [Double] = []
    for round in 0...rounds {
        let start = cpuSeconds()
        let count = body()
        let duration = cpuSeconds() - start
        guard count == eventCount else { fatalError("\(name): \(count) events of \(eventCount)") }
        // The first round warms up.
        if round > 0 { seconds.append(duration) }
    }
    seconds.sort()
    let millions = { (time: Double) in Double(Int(Double(eventCount) / time / 1e4)) / 100 }
    print(
        "\(name): \(millions(seconds[rounds / 2])) million events per CPU second (best \(millions(seconds[0]))), "
            + "\(bytes / eventCount) bytes each")
}

/// Decodes records that stand one behind the other.
func decodeAll(_ records: Records, with decoder: EventDecoder, hint: TypeHint = .none, schema: AvroSchema? = nil) -> Int
{
    var event = Event()
    var count = 0
    records.bytes.withUnsafeBufferPointer { bytes in
        var start = 0
        for end in records.ends {
            decoder.begin(
                ByteView(start: bytes.baseAddress! + start, count: end - start), hint: hint, padded: true,
                schema: schema)
            while let outcome = decoder.next(into: &event) { if case .event = outcome { count += 1 } }
            start = end
        }
    }
    return count
}

var sample = Sample(seed: 7)
let events = sample.events(eventCount)
let decoder = EventDecoder(limits: DecoderLimits(maxRecordBytes: 1 << 30))
for (id, kind) in Kind.allCases.enumerated() {
    decoder.add(.avro(try AvroSchema(json: kind.schema)), forID: UInt32(id))
}

let framed = Records(events.map(\.framed))
measure("Avro with schema ids", bytes: framed.bytes.count) { decodeAll(framed, with: decoder) }

let sends = Records(sample.events(eventCount, only: .send).map(\.datum))
let sendSchema = try AvroSchema(json: Kind.send.schema)
measure("bare Avro, Sends only", bytes: sends.bytes.count) { decodeAll(sends, with: decoder, schema: sendSchema) }

let files = Records(
    Kind.allCases.map { kind in containerFile(events.filter { $0.kind == kind }.map(\.datum), kind.schema) })
measure("container files", bytes: files.bytes.count) { decodeAll(files, with: decoder) }

let json = Records(events.map(\.json))
measure("JSON, flat", bytes: json.bytes.count) { decodeAll(json, with: decoder) }
