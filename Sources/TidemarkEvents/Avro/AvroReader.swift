internal import CTidemark

/// Reads records of one schema, one after the other, into fields as the JSON decoder fills them. Nothing is allocated per record.
///
/// It belongs to one decoder. A field that the schema lacks stays absent, because nothing ever writes to its slot.
final class AvroReader {
    let schema: AvroSchema
    private let program: AvroProgram
    /// The fields of each record type.
    private let tables: UnsafeMutablePointer<tidemark_json_fields>
    /// The same, for whoever looks at what was read.
    private let fields: [ExtractedFields]
    /// The record type of the last value.
    private(set) var record = 0
    /// The field that was being read at a fault; negative for none.
    private var faultyField: Int32 = -1

    init(_ schema: AvroSchema) {
        self.schema = schema
        program = schema.program
        let count = max(program.records.count, 1)
        tables = .allocate(capacity: count)
        tables.initialize(repeating: tidemark_json_fields(), count: count)
        fields = (0..<count).map { [tables] in ExtractedFields(UnsafePointer(tables + $0)) }
    }

    deinit { tables.deallocate() }

    /// What was read last.
    var extracted: ExtractedFields { fields[record] }

    /// The event type of the record that was read last, as its schema's name tells.
    var eventType: TopicType { program.records[record].eventType }

    /// Whether the schema is one of events at all.
    var holdsRecords: Bool { !program.records.isEmpty }

    /// Whether the first byte of a value may be odd. It cannot where a length or the number of a branch comes first.
    var mayBeginOdd: Bool { program.mayBeginOdd }

    /// Reads a value.
    ///
    /// - Returns: whether it is one of this schema; else the cursor stands where it is not.
    func read(_ cursor: inout AvroCursor) -> Bool {
        faultyField = -1
        if case .union(let branches) = program.root {
            guard let branch = cursor.choice(of: Int32(branches.count), otherwise: .noSuchBranch) else { return false }
            guard branches[branch] >= 0 else { return cursor.fail(.noSuchBranch) }
            record = branches[branch]
        }
        let range = program.records[record].steps
        return run(program.steps.start + range.lowerBound, range.count, into: tables + record, &cursor)
    }

    /// What is wrong with the value, in words.
    ///
    /// - Parameter start: where the bytes begin that places are counted from.
    func explain(_ cursor: AvroCursor, from start: UnsafePointer<UInt8>, _ what: String) -> Rejection {
        let field = faultyField >= 0 ? program.fieldNames[Int(faultyField)] : nil
        return .notAvro(
            cursor.fault, schema: schema.name, field: field, at: cursor.place - start, of: cursor.end - start, what)
    }

    // MARK: Steps

    private func run(
        _ steps: UnsafePointer<AvroStep>, _ count: Int, into table: UnsafeMutablePointer<tidemark_json_fields>,
        _ cursor: inout AvroCursor
    ) -> Bool {
        let slots = UnsafeMutableRawPointer(table).assumingMemoryBound(to: tidemark_json_slot.self)
        let kinds = UnsafeMutableRawPointer(mutating: fields[record].kinds).assumingMemoryBound(to: UInt8.self)
        var target = Target(slots: slots, kinds: kinds)
        var own = cursor
        for index in 0..<count where !take(steps + index, into: &target, &own) {
            faultyField = steps[index].field
            cursor = own
            return false
        }
        cursor = own
        table.pointee.objections = target.objections
        table.pointee.longest = UInt32(target.longest)
        return true
    }

    /// Where values go.
    private struct Target {
        let slots: UnsafeMutablePointer<tidemark_json_slot>
        let kinds: UnsafeMutablePointer<UInt8>
        var objections: UInt8 = 0
        var longest = 0

        @inline(__always)
        mutating func put(_ text: ByteView, _ step: UnsafePointer<AvroStep>) {
            let slot = Int(step.pointee.slot)
            slots[slot] = tidemark_json_slot(start: text.start, count: Int64(text.count))
            let kind = text.count == 0 ? JSONKind.empty : JSONKind.string
            kinds[slot] = kind
            objections |= kind & step.pointee.forbidden
            longest = max(longest, text.count)
        }

        @inline(__always)
        mutating func put(_ number: Int64, _ kind: UInt8, _ step: UnsafePointer<AvroStep>) {
            let slot = Int(step.pointee.slot)
            slots[slot] = tidemark_json_slot(start: nil, count: number)
            kinds[slot] = kind
            objections |= kind & step.pointee.forbidden
        }
    }

    @inline(__always)
    private func take(
        _ step: UnsafePointer<AvroStep>, into target: inout Target, _ cursor: inout AvroCursor
    ) -> Bool {
        switch step.pointee.operation {
        case .nullableText:
            guard cursor.place < cursor.end else { return cursor.fail(.truncated) }
            let branch = cursor.place.pointee
            if branch == step.pointee.nullByte {
                cursor.place += 1
                target.put(0, JSONKind.null, step)
                return true
            }
            guard branch == step.pointee.valueByte else { return takeOther(step, into: &target, &cursor) }
            cursor.place += 1
            guard let text = cursor.text() else { return false }
            target.put(text, step)
            return true
        case .text:
            guard let text = cursor.text() else { return false }
            target.put(text, step)
            return true
        case .skipNullableText:
            guard cursor.place < cursor.end else { return cursor.fail(.truncated) }
            let branch = cursor.place.pointee
            if branch == step.pointee.nullByte {
                cursor.place += 1
                return true
            }
            guard branch == step.pointee.valueByte else { return takeOther(step, into: &target, &cursor) }
            cursor.place += 1
            return cursor.text() != nil
        case .skipText:
            return cursor.text() != nil
        default:
            return takeOther(step, into: &target, &cursor)
        }
    }

    /// The operations that are rarer, and nullable types whose branches are numbered in more bytes than it takes.
    @inline(never)
    private func takeOther(
        _ step: UnsafePointer<AvroStep>, into target: inout Target, _ cursor: inout AvroCursor
    ) -> Bool {
        switch step.pointee.operation {
        case .integer, .scaledInteger:
            guard let number = step.pointee.count == 32 ? cursor.int() : cursor.long() else { return false }
            let units = Int64(step.pointee.unitsPerSecond)
            // Rounded down, also before 1970.
            let rounded = units == 1 || number >= 0 ? number / units : (number + 1) / units - 1
            target.put(rounded, JSONKind.integer, step)
        case .boolean:
            guard let value = cursor.boolean() else { return false }
            target.put(value ? 1 : 0, JSONKind.bool, step)
        case .floating:
            guard cursor.advance(Int(step.pointee.count)) else { return false }
            target.put(0, JSONKind.double, step)
        case .null:
            target.put(0, JSONKind.null, step)
        case .symbol:
            guard let symbol = cursor.choice(of: step.pointee.count, otherwise: .noSuchSymbol) else { return false }
            target.put(program.symbols.start[Int(step.pointee.first) + symbol], step)
        case .foreign:
            guard cursor.skip(step.pointee.first, of: program) else { return false }
            target.put(0, step.pointee.kind, step)
        case .union, .nullableText, .nullableInteger, .nullableBoolean:
            guard let branch = cursor.choice(of: step.pointee.count, otherwise: .noSuchBranch) else { return false }
            let chosen = program.steps.start + Int(step.pointee.first) + branch
            return chosen.pointee.operation == .text
                ? takeText(chosen, into: &target, &cursor) : takeOther(chosen, into: &target, &cursor)
        case .skip, .skipNullableText, .skipText:
            return cursor.skip(step.pointee.first, of: program)
        case .text:
            return takeText(step, into: &target, &cursor)
        }
        return true
    }

    private func takeText(
        _ step: UnsafePointer<AvroStep>, into target: inout Target, _ cursor: inout AvroCursor
    ) -> Bool {
        guard let text = cursor.text() else { return false }
        target.put(text, step)
        return true
    }
}
