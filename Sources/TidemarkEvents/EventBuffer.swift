/// Events one after another in memory of its own: how they travel from the thread that decodes them to the one that has their users.
///
/// An event is a head of fixed size, then each text field that is not null: its length and its bytes.
package final class EventBuffer {
    private struct Head: BitwiseCopyable {
        var time: UInt32
        /// One bit per text field, in the order in which they are written; 1 where it is not null.
        var texts: UInt32
        var type: EventType
        var conversionIndex: UInt8
        var isInControlGroup: Bool
    }

    private static let textFields = 21
    private static let lengthSize = MemoryLayout<UInt32>.size
    /// What an event takes beside the bytes of its texts, at most.
    private static let overhead = MemoryLayout<Head>.size + textFields * lengthSize

    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var end = 0
    /// The hashes of the users of the events.
    package private(set) var userHashes: [UInt64] = []

    /// An empty buffer with room for `capacity` bytes; it grows.
    package init(capacity: Int = 64 << 10) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// Forgets all events and keeps the memory.
    package func removeAll() {
        end = 0
        userHashes.removeAll(keepingCapacity: true)
    }

    /// Copies an event to the end.
    ///
    /// - Parameter userHash: `event.userID.hash64`.
    package func append(_ event: borrowing Event, userHash: UInt64) {
        var size = EventBuffer.overhead
        EventBuffer.forEachText(of: event) { size += $0.count }
        if end + size > capacity { grow(to: end + size) }
        var head = Head(
            time: event.time, texts: 0, type: event.type, conversionIndex: event.conversionIndex,
            isInControlGroup: event.isInControlGroup)
        var place = base + end + MemoryLayout<Head>.size
        var bit: UInt32 = 1
        EventBuffer.forEachText(of: event) { text in
            if let start = text.start, text.count > 0 {
                head.texts |= bit
                place.storeBytes(of: UInt32(text.count), as: UInt32.self)
                place += EventBuffer.lengthSize
                place.copyMemory(from: start, byteCount: text.count)
                place += text.count
            }
            bit <<= 1
        }
        (base + end).storeBytes(of: head, as: Head.self)
        end = place - base
        userHashes.append(userHash)
    }

    /// Calls `body` for each event in the order in which they were appended; its texts are valid until the buffer changes.
    package func forEach(_ body: (borrowing Event) -> Void) {
        var event = Event()
        var place = UnsafeRawPointer(base)
        let last = UnsafeRawPointer(base + end)
        while place < last {
            let head = place.loadUnaligned(as: Head.self)
            event.time = head.time
            event.type = head.type
            event.conversionIndex = head.conversionIndex
            event.isInControlGroup = head.isInControlGroup
            var reader = TextReader(place: place + MemoryLayout<Head>.size, left: head.texts)
            EventBuffer.read(&event, from: &reader)
            place = reader.place
            body(event)
        }
    }

    @inline(never)
    private func grow(to needed: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: max(needed, capacity * 2), alignment: 16)
        larger.copyMemory(from: base, byteCount: end)
        base.deallocate()
        base = larger
        capacity = max(needed, capacity * 2)
    }

    // MARK: The order of the texts, written and read

    private struct TextReader {
        var place: UnsafeRawPointer
        var left: UInt32

        @inline(__always)
        mutating func next() -> ByteView {
            defer { left >>= 1 }
            guard left & 1 != 0 else { return .null }
            let count = Int(place.loadUnaligned(as: UInt32.self))
            let start = place + EventBuffer.lengthSize
            place = start + count
            return ByteView(start: start.assumingMemoryBound(to: UInt8.self), count: count)
        }
    }

    @inline(__always)
    private static func forEachText(of event: borrowing Event, _ body: (ByteView) -> Void) {
        body(event.id)
        body(event.userID)
        body(event.externalUserID)
        body(event.appID)
        body(event.deviceID)
        body(event.dispatchID)
        body(event.sessionID)
        body(event.platform)
        body(event.buttonActionType)
        body(event.buttonString)
        body(event.buttonID)
        body(event.labels.campaignID)
        body(event.labels.messageVariationID)
        body(event.labels.canvasID)
        body(event.labels.canvasVariationID)
        body(event.labels.canvasStepID)
        body(event.labels.campaignName)
        body(event.labels.messageVariationName)
        body(event.labels.canvasName)
        body(event.labels.canvasVariationName)
        body(event.labels.canvasStepName)
    }

    @inline(__always)
    private static func read(_ event: inout Event, from texts: inout TextReader) {
        event.id = texts.next()
        event.userID = texts.next()
        event.externalUserID = texts.next()
        event.appID = texts.next()
        event.deviceID = texts.next()
        event.dispatchID = texts.next()
        event.sessionID = texts.next()
        event.platform = texts.next()
        event.buttonActionType = texts.next()
        event.buttonString = texts.next()
        event.buttonID = texts.next()
        event.labels.campaignID = texts.next()
        event.labels.messageVariationID = texts.next()
        event.labels.canvasID = texts.next()
        event.labels.canvasVariationID = texts.next()
        event.labels.canvasStepID = texts.next()
        event.labels.campaignName = texts.next()
        event.labels.messageVariationName = texts.next()
        event.labels.canvasName = texts.next()
        event.labels.canvasVariationName = texts.next()
        event.labels.canvasStepName = texts.next()
    }
}
