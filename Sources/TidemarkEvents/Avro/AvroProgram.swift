/// One step of reading a record: what to do with the next field of the writer.
struct AvroStep: BitwiseCopyable {
    enum Operation: UInt8, BitwiseCopyable {
        // Into a slot.
        case text, integer, scaledInteger, boolean, floating, null, symbol
        /// A value of a type that the field cannot have: only its kind is kept.
        case foreign
        /// A number of a branch, then the step of that branch.
        case union
        /// Unions of null and one more type, in either order: the numbers of the branches are compared as they are encoded.
        case nullableText, nullableInteger, nullableBoolean
        // To be passed over.
        case skip, skipText, skipNullableText
    }

    var operation: Operation
    /// Where the value goes: a raw value of `EventField`.
    var slot: UInt8 = 0
    /// The kinds of values that the field must not have.
    var forbidden: UInt8 = 0
    /// `foreign`: the kind of the value.
    var kind: UInt8 = 0
    /// Nullable types: the encoded numbers of the branches.
    var nullByte: UInt8 = 0
    var valueByte: UInt8 = 0
    /// How many branches or symbols there are.
    var count: Int32 = 0
    /// The type to skip, the step of the first branch, or the first symbol.
    var first: Int32 = 0
    /// `scaledInteger`: how many of its units make a second.
    var unitsPerSecond: Int32 = 1
    /// Number of the field in the list of names.
    var field: Int32 = 0
}

/// A type as it is passed over.
struct AvroNode: BitwiseCopyable {
    enum Shape: UInt8, BitwiseCopyable {
        case nothing, varint, int, boolean, fixed, bytes, text, symbol, record, union, array, map
    }

    var shape: Shape
    /// Fields, branches or symbols.
    var count: Int32 = 0
    /// The place of the first child in the list of children.
    var first: Int32 = 0
    /// `fixed`: bytes.
    var size: Int32 = 0
}

/// What a writer schema is compiled into: for each record type that a value may be, the steps that read it, one per field.
///
/// Immutable, and shared by the decoders of all threads; what they read goes to an `AvroReader` of each.
final class AvroProgram: Sendable {
    /// What a value of the schema is.
    enum Root: Sendable {
        /// The only record.
        case record
        /// A union; for each branch the number of its record, or -1 where it is none.
        case union([Int])
        /// Something that cannot be an event.
        case other
    }

    struct Record: Sendable {
        var name: String
        var eventType: TopicType
        var steps: Range<Int>
        /// Whether the record may name its own type in a field.
        var hasTypeField: Bool
    }

    let root: Root
    let records: [Record]
    /// Whether a value may begin with an odd byte: not where that is a length or the number of a branch, neither of which is ever negative.
    let mayBeginOdd: Bool
    /// Names of the fields that steps number.
    let fieldNames: [String]
    let steps: Frozen<AvroStep>
    let nodes: Frozen<AvroNode>
    let children: Frozen<Int32>
    /// Symbols of enums that are read as texts.
    let symbols: Frozen<ByteView>
    /// What `symbols` point into.
    private let symbolBytes: Frozen<UInt8>

    init(_ parts: AvroCompiler, root: Root, records: [Record], mayBeginOdd: Bool) {
        self.root = root
        self.mayBeginOdd = mayBeginOdd
        self.records = records
        fieldNames = parts.fieldNames
        steps = Frozen(parts.steps)
        nodes = Frozen(parts.nodes)
        children = Frozen(parts.children)
        let bytes = Frozen(parts.symbols.flatMap { Array($0.utf8) })
        var offset = 0
        symbols = Frozen(
            parts.symbols.map { symbol in
                defer { offset += symbol.utf8.count }
                return ByteView(start: bytes.start + offset, count: symbol.utf8.count)
            })
        symbolBytes = bytes
    }
}

/// An array that never changes, at an address of its own.
///
/// Unchecked, because it is written by the initialiser only.
final class Frozen<Element>: @unchecked Sendable {
    let start: UnsafePointer<Element>
    let count: Int
    private let memory: UnsafeMutableBufferPointer<Element>

    init(_ elements: [Element]) {
        count = elements.count
        memory = .allocate(capacity: max(count, 1))
        _ = memory.initialize(from: elements)
        start = UnsafePointer(memory.baseAddress!)
    }

    deinit {
        UnsafeMutablePointer(mutating: start).deinitialize(count: count)
        memory.deallocate()
    }
}
