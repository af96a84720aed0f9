// Compiled together with the sources of TidemarkEvents by `scripts/fuzz`, not part of the package.

/// One decoder for all records, as in a worker: what one record leaves behind must not change the next.
private nonisolated(unsafe) let decoder = EventDecoder(limits: DecoderLimits(maxRecordBytes: 4_096))
private nonisolated(unsafe) var event = Event()

/// The same for bare Avro values, by steps for the common types and without them.
private nonisolated(unsafe) let decoders = (fast: EventDecoder(), plain: EventDecoder())
private nonisolated(unsafe) let schemas = makeSchemas()

private func makeSchemas() -> (fast: AvroSchema, plain: AvroSchema) {
    do {
        // `scripts/fuzz` makes the text out of Tests/fuzz/event.avsc.
        return (try AvroSchema(json: fuzzSchema), try AvroSchema(json: fuzzSchema, hasFastPaths: false))
    } catch {
        fatalError("the schema cannot be used: \(error)")
    }
}

/// What libFuzzer calls. A byte 1 in front is for a value of `fuzzSchema`, a byte 2 for a schema; no record begins so.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0, start[0] == 1 || start[0] == 2 else {
        fuzzRecord(start, count)
        return 0
    }
    let rest = ByteView(start: count > 1 ? start + 1 : nil, count: count - 1)
    if start[0] == 1 { fuzzBareAvro(rest) } else { fuzzSchemaText(rest) }
    return 0
}

private func fuzzBareAvro(_ value: ByteView) {
    decoders.fast.begin(value, schema: schemas.fast)
    decoders.plain.begin(value, schema: schemas.plain)
    var other = Event()
    while let outcome = decoders.fast.next(into: &event) {
        let plain = decoders.plain.next(into: &other)
        precondition(plain == outcome, "the quick steps do not come to what the plain ones come to")
        guard case .event = outcome else { continue }
        check(event)
        precondition(event.id == other.id && event.userID == other.userID && event.time == other.time)
        precondition(event.platform == other.platform && event.buttonString == other.buttonString)
        precondition(event.labels.campaignName == other.labels.campaignName)
    }
    precondition(decoders.plain.next(into: &other) == nil)
}

/// A schema is refused or can be used: a value of zeros has some outcome.
private func fuzzSchemaText(_ text: ByteView) {
    guard let schema = try? AvroSchema(json: text.text ?? "") else { return }
    let zeros = [UInt8](repeating: 0, count: 64)
    zeros.withUnsafeBytes { zeros in
        decoders.fast.begin(ByteView(zeros), schema: schema)
        while decoders.fast.next(into: &event) != nil {}
    }
}

private func fuzzRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) {
    let value = ByteView(start: start, count: count)
    let isJSON = start.map { count > 0 && Framing.of($0, count) == nil } ?? false
    let shape = decoder.begin(value)
    var outcomes = 0
    var code: RejectionCode?
    while let outcome = decoder.next(into: &event) {
        outcomes += 1
        let element = decoder.elementBytes()
        // A part of the record, or the record itself; an event of a container file comes in one of its own.
        if let first = element.start, let start, isJSON {
            precondition(
                first >= start && first + element.count <= start + count, "an event's bytes lie outside of the record")
        }
        switch outcome {
        case .event: check(event)
        case .skipped: break
        case .rejected(let rejection):
            code = rejection.code
            precondition(!rejection.message.isEmpty)
            let place = ErrorPlace.range(in: element, code: rejection.code, message: rejection.message)
            precondition(place.map { $0.upperBound <= element.count } ?? true, "the place of an error lies outside")
        }
    }
    // simdjson and the plain scanner agree on what JSON is.
    if isJSON, count <= decoder.limits.maxRecordBytes {
        precondition(
            (JSONScanner.firstError(in: value) != nil) == (code == .malformed && shape == .unreadable),
            "the scanner disagrees")
    }
    precondition(shape != .event || outcomes == 1)
}

/// What the rules rely on.
private func check(_ event: borrowing Event) {
    let (id, user, session) = (event.id, event.userID, event.sessionID)
    let (time, index, isSession) = (event.time, event.conversionIndex, event.type.isSession)
    precondition(!id.isNull && !user.isNull)
    precondition(time <= UInt32(Int32.max) && index <= 3)
    precondition(!isSession || !session.isNull)
    for text in [id, user, session, event.externalUserID, event.appID, event.deviceID, event.labels.campaignName] {
        // Reads every byte, so that AddressSanitizer sees one that is not ours.
        if let text = text.text { precondition(!text.isEmpty) }
    }
}
