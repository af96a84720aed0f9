#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// Bytes that somebody else owns: a field of an event that is being decoded, valid until the decoder moves on.
///
/// - Important: Never store one beyond the call that handed it out; copy the bytes instead.
public struct ByteView {
    /// The first byte; `nil` where the field is null.
    public var start: UnsafePointer<UInt8>?
    /// How many bytes there are.
    public var count: Int

    /// The null field.
    @inlinable public static var null: ByteView { ByteView(start: nil, count: 0) }

    /// A view of `count` bytes from `start`.
    @inlinable
    public init(start: UnsafePointer<UInt8>?, count: Int) {
        self.start = start
        self.count = count
    }

    /// A view of a whole buffer.
    @inlinable
    public init(_ buffer: UnsafeRawBufferPointer) {
        self.init(start: buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count: buffer.count)
    }

    /// An empty string reads as null, in every field (`spec/attribution.md` section 1).
    @inlinable public var isNull: Bool { count == 0 }

    /// The bytes as text, for messages and cold paths; `nil` where null.
    public var text: String? {
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Whether both views hold the same bytes; two nulls are equal.
    @inlinable
    public static func == (left: ByteView, right: ByteView) -> Bool {
        guard left.count == right.count else { return false }
        guard left.count > 0, let a = left.start, let b = right.start else { return true }
        return memcmp(a, b, left.count) == 0
    }

    /// Order by unsigned bytes, a prefix first; negative, zero or positive like `memcmp`.
    @inlinable
    public static func compare(_ left: ByteView, _ right: ByteView) -> Int {
        let shared = min(left.count, right.count)
        if shared > 0, let a = left.start, let b = right.start {
            let order = memcmp(a, b, shared)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
