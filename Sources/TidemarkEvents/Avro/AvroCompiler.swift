/// Turns the types of a schema into steps.
struct AvroCompiler {
    private let types: [AvroType]
    private let hasFastPaths: Bool

    private(set) var steps: [AvroStep] = []
    private(set) var nodes: [AvroNode] = []
    private(set) var children: [Int32] = []
    private(set) var symbols: [String] = []
    private(set) var fieldNames: [String] = []

    /// - Throws: `AvroSchema.Failure` for a type that no value can have.
    static func compile(
        _ types: [AvroType], root: Int, hasFastPaths: Bool
    ) throws(AvroSchema.Failure) -> AvroProgram {
        var compiler = AvroCompiler(types: types, hasFastPaths: hasFastPaths)
        try compiler.makeNodes()
        var records: [AvroProgram.Record] = []
        func number(of place: Int) -> Int {
            guard types[place].kind == .record else { return -1 }
            records.append(compiler.record(types[place]))
            return records.count - 1
        }
        switch types[root].kind {
        case .record:
            _ = number(of: root)
            return AvroProgram(compiler, root: .record, records: records, mayBeginOdd: compiler.mayBeginOdd(root))
        case .union:
            let branches = types[root].children.map(number)
            return AvroProgram(compiler, root: .union(branches), records: records, mayBeginOdd: false)
        default:
            return AvroProgram(compiler, root: .other, records: [], mayBeginOdd: false)
        }
    }

    private init(types: [AvroType], hasFastPaths: Bool) {
        self.types = types
        self.hasFastPaths = hasFastPaths
    }

    /// Whether the first byte of a value may be odd; by the first field that takes any bytes.
    private func mayBeginOdd(_ place: Int) -> Bool {
        switch types[place].kind {
        case .string, .bytes, .union, .enumeration: return false
        case .record:
            guard let first = types[place].fields.first(where: { nodes[$0.type].shape != .nothing }) else {
                return true
            }
            return mayBeginOdd(first.type)
        default: return true
        }
    }

    // MARK: Types to pass over

    /// One node per type, in the same places.
    private mutating func makeNodes() throws(AvroSchema.Failure) {
        var search = EmptyTypes(types: types)
        var isEmpty: [Bool] = []
        for place in types.indices { isEmpty.append(try search.contains(place)) }
        for place in types.indices {
            nodes.append(isEmpty[place] ? AvroNode(shape: .nothing) : node(of: types[place], isEmpty))
        }
    }

    private mutating func node(of type: AvroType, _ isEmpty: [Bool]) -> AvroNode {
        switch type.kind {
        case .null: return AvroNode(shape: .nothing)
        case .boolean: return AvroNode(shape: .boolean)
        case .int: return AvroNode(shape: .int)
        case .long: return AvroNode(shape: .varint)
        case .float: return AvroNode(shape: .fixed, size: 4)
        case .double: return AvroNode(shape: .fixed, size: 8)
        case .fixed: return AvroNode(shape: .fixed, size: Int32(type.size))
        case .bytes: return AvroNode(shape: .bytes)
        case .string: return AvroNode(shape: .text)
        case .enumeration: return AvroNode(shape: .symbol, count: Int32(type.symbols.count))
        case .array: return node(.array, type.children)
        case .map: return node(.map, type.children)
        case .union: return node(.union, type.children)
        // Without fields of no size, so that the work on a value is in proportion to its bytes.
        case .record: return node(.record, type.fields.map(\.type).filter { !isEmpty[$0] })
        }
    }

    private mutating func node(_ shape: AvroNode.Shape, _ parts: [Int]) -> AvroNode {
        let first = children.count
        children += parts.map { Int32($0) }
        return AvroNode(shape: shape, count: Int32(parts.count), first: Int32(first))
    }

    // MARK: Fields to read

    private mutating func record(_ type: AvroType) -> AvroProgram.Record {
        let slots = AvroCompiler.slots(of: type.fields)
        let own = type.fields.indices.compactMap { index -> AvroStep? in
            let field = type.fields[index]
            fieldNames.append(field.name)
            let number = Int32(fieldNames.count - 1)
            if let slot = slots[index] { return reading(field.type, into: slot, number) }
            return skipping(field.type, number)
        }
        let first = steps.count
        steps += own
        return AvroProgram.Record(
            name: type.name, eventType: TopicType.of(recordNames: [type.name] + type.aliases),
            steps: first..<steps.count, hasTypeField: slots.contains(.eventType))
    }

    /// Which field of an event each field of the writer is: by its name, else by an alias that is no other field's name.
    private static func slots(of fields: [AvroType.Field]) -> [EventField?] {
        let known = Dictionary(
            uniqueKeysWithValues: EventField.allCases.filter { $0.rawValue <= EventField.eventType.rawValue }
                .map { ($0.name, $0) })
        var slots = fields.map { known[$0.name] }
        for index in fields.indices where slots[index] == nil {
            slots[index] = fields[index].aliases.lazy.compactMap { known[$0] }.first { !slots.contains($0) }
        }
        return slots
    }

    private mutating func reading(_ place: Int, into slot: EventField, _ field: Int32) -> AvroStep {
        let type = types[place]
        guard type.kind == .union else { return plain(place, into: slot, field) }
        // Compiled before they are added, because the steps of a union stand together.
        let branches = type.children.map { plain($0, into: slot, field) }
        var step = self.step(.union, slot, field)
        step.first = Int32(steps.count)
        step.count = Int32(branches.count)
        steps += branches
        guard hasFastPaths, let nullAt = nullBranch(of: type) else { return step }
        (step.nullByte, step.valueByte) = (UInt8(2 * nullAt), UInt8(2 * (1 - nullAt)))
        switch branches[1 - nullAt].operation {
        case .text: step.operation = .nullableText
        case .integer: step.operation = .nullableInteger
        case .boolean: step.operation = .nullableBoolean
        default: break
        }
        return step
    }

    /// Which branch of a union of two is null.
    private func nullBranch(of union: AvroType) -> Int? {
        guard union.children.count == 2 else { return nil }
        return union.children.firstIndex { types[$0].kind == .null }
    }

    private mutating func plain(_ place: Int, into slot: EventField, _ field: Int32) -> AvroStep {
        let type = types[place]
        switch type.kind {
        case .null: return step(.null, slot, field)
        case .boolean: return step(.boolean, slot, field)
        case .int, .long: return integer(type, slot, field)
        case .float, .double:
            var step = step(.floating, slot, field)
            step.count = type.kind == .float ? 4 : 8
            return step
        case .string, .bytes: return step(.text, slot, field)
        case .enumeration:
            var step = step(.symbol, slot, field)
            (step.first, step.count) = (Int32(symbols.count), Int32(type.symbols.count))
            symbols += type.symbols
            return step
        case .record, .map, .fixed: return foreign(place, JSONKind.object, slot, field)
        case .array, .union: return foreign(place, JSONKind.array, slot, field)
        }
    }

    /// A number. A `time` of a logical type that is finer than seconds is brought to seconds.
    private func integer(_ type: AvroType, _ slot: EventField, _ field: Int32) -> AvroStep {
        var step = step(.integer, slot, field)
        // An int has to fit into 32 bits, a long into 64.
        step.count = type.kind == .int ? 32 : 64
        guard slot == .time, type.kind == .long else { return step }
        switch type.logicalType {
        case "timestamp-millis": step.unitsPerSecond = 1_000
        case "timestamp-micros": step.unitsPerSecond = 1_000_000
        case "timestamp-nanos": step.unitsPerSecond = 1_000_000_000
        default: return step
        }
        step.operation = .scaledInteger
        return step
    }

    private func foreign(_ place: Int, _ kind: UInt8, _ slot: EventField, _ field: Int32) -> AvroStep {
        var step = step(.foreign, slot, field)
        (step.kind, step.first) = (kind, Int32(place))
        return step
    }

    private func skipping(_ place: Int, _ field: Int32) -> AvroStep? {
        let type = types[place]
        guard nodes[place].shape != .nothing else { return nil }
        var step = AvroStep(operation: .skip, first: Int32(place), field: field)
        guard hasFastPaths else { return step }
        if type.kind == .string { step.operation = .skipText }
        if type.kind == .union, let nullAt = nullBranch(of: type), types[type.children[1 - nullAt]].kind == .string {
            step.operation = .skipNullableText
            (step.nullByte, step.valueByte) = (UInt8(2 * nullAt), UInt8(2 * (1 - nullAt)))
        }
        return step
    }

    private func step(_ operation: AvroStep.Operation, _ slot: EventField, _ field: Int32) -> AvroStep {
        AvroStep(operation: operation, slot: UInt8(slot.rawValue), forbidden: slot.forbiddenKinds, field: field)
    }
}

/// Finds the types whose values take no bytes at all, and those that would never end.
private struct EmptyTypes {
    let types: [AvroType]
    private var known: [Int: Bool] = [:]
    private var open: Set<Int> = []

    init(types: [AvroType]) { self.types = types }

    mutating func contains(_ place: Int) throws(AvroSchema.Failure) -> Bool {
        let type = types[place]
        switch type.kind {
        case .null: return true
        case .fixed: return type.size == 0
        case .record: break
        default: return false
        }
        if let known = known[place] { return known }
        guard open.insert(place).inserted else {
            throw AvroSchema.Failure(description: "record `\(type.name)` holds itself without an end")
        }
        // Chains of records are as deep as there are names, and this is a call per link.
        guard open.count <= AvroCursor.maxDepth else {
            throw AvroSchema.Failure(
                description: "record `\(type.name)`: records are nested deeper than \(AvroCursor.maxDepth)")
        }
        var isEmpty = true
        for field in type.fields where try !contains(field.type) { isEmpty = false }
        open.remove(place)
        known[place] = isEmpty
        return isEmpty
    }
}
