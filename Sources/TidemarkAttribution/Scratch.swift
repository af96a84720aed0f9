/// A growable buffer for working memory that is filled and emptied once per user, without reference counts or bounds checks.
///
/// - Important: The owner frees it with `deallocate()`; copies of the value share the memory.
public struct Scratch<Element: BitwiseCopyable> {
    /// The first element; elements at `count` and beyond are not initialised.
    public private(set) var base: UnsafeMutablePointer<Element>
    /// How many elements are in use.
    public private(set) var count = 0
    /// How many elements there is room for.
    public private(set) var capacity: Int

    /// An empty buffer with room for `capacity` elements.
    public init(capacity: Int = 16) {
        self.capacity = max(capacity, 1)
        base = .allocate(capacity: self.capacity)
    }

    /// Gives the memory back. The buffer must not be used after.
    public func deallocate() { base.deallocate() }

    /// The element at `index`, which must be below `count`.
    public subscript(index: Int) -> Element {
        @inline(__always) get { base[index] }
        @inline(__always) nonmutating set { base[index] = newValue }
    }

    /// Adds an element at the end.
    @inline(__always)
    public mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        base[count] = element
        count += 1
    }

    /// Forgets all elements and keeps the memory.
    @inline(__always)
    public mutating func removeAll() { count = 0 }

    /// Drops elements from the end until `newCount` remain.
    public mutating func truncate(to newCount: Int) { count = min(count, newCount) }

    /// Makes the buffer hold exactly `newCount` copies of `element`.
    public mutating func fill(_ newCount: Int, with element: Element) {
        if newCount > capacity { grow(to: newCount) }
        base.update(repeating: element, count: newCount)
        count = newCount
    }

    /// Makes the buffer hold `newCount` elements, of which none may be read before it is written.
    public mutating func resize(to newCount: Int) {
        if newCount > capacity { grow(to: newCount) }
        count = newCount
    }

    /// Appends `additional` elements from `source`.
    public mutating func append(from source: UnsafePointer<Element>, count additional: Int) {
        if count + additional > capacity { grow(to: count + additional) }
        (base + count).update(from: source, count: additional)
        count += additional
    }

    /// The elements in use.
    public var elements: UnsafeMutableBufferPointer<Element> { .init(start: base, count: count) }

    @inline(never)
    private mutating func grow(to needed: Int) {
        let newCapacity = max(needed, capacity * 2)
        let newBase = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
        newBase.update(from: base, count: count)
        base.deallocate()
        base = newBase
        capacity = newCapacity
    }
}
