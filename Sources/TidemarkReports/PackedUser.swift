internal import TidemarkAttribution
internal import TidemarkEvents

/// A user that nothing happens to for now, in as few bytes as will do: a third of what a `UserState` takes.
///
///     hash │ size │ next fold │ user id │ number of entries │ entries │ what is folded
///
/// Numbers are those of the task's vocabulary, so that it means nothing to another task. Made and read by `UserPacker`.
///
/// - Important: A value is a handle; copies share the memory.
public struct PackedUser {
    struct Header: BitwiseCopyable {
        var hash: UInt64
        /// Bytes in all.
        var size: UInt32
        var nextFold: UInt32
    }

    static let headerSize = 16
    let block: UnsafeMutableRawPointer

    /// The user behind a handle that was given out by `handle`.
    @inline(__always) public init(handle: UnsafeMutableRawPointer) { block = handle }

    /// A user made of a header and the bytes behind it.
    init(hash: UInt64, nextFold: UInt32, contents: UnsafeBufferPointer<UInt8>) {
        let size = PackedUser.headerSize + contents.count
        block = .allocate(byteCount: size, alignment: 16)
        block.storeBytes(of: Header(hash: hash, size: UInt32(size), nextFold: nextFold), as: Header.self)
        if let start = contents.baseAddress {
            (block + PackedUser.headerSize).copyMemory(from: start, byteCount: contents.count)
        }
    }

    private var header: Header { block.load(as: Header.self) }

    /// The user as one pointer, a multiple of 16.
    public var handle: UnsafeMutableRawPointer { block }
    /// The hash that the user was created with.
    public var userHash: UInt64 { header.hash }
    /// Bytes of memory that the user takes.
    public var byteCount: Int { Int(header.size) }
    /// `UserState.nextFold`.
    public var nextFold: UInt32 { header.nextFold }

    /// What follows the header.
    var contents: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: block + PackedUser.headerSize, count: byteCount - PackedUser.headerSize)
    }

    /// Gives the memory back.
    public func deallocate() { block.deallocate() }
}
