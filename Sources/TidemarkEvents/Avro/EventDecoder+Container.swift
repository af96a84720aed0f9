/// How far the decoder has come in a container file, or in one block of it.
final class ContainerPosition {
    let header: ContainerHeader
    let reader: AvroReader
    /// What follows the present block in a whole file; null for a lone block.
    var rest = ByteView.null
    /// The content of the present block.
    var content = ByteView.null
    var cursor = AvroCursor(UnsafeBufferPointer(start: nil, count: 0))
    /// Values of the present block that were not read yet, and all of them.
    var left: Int64 = 0
    var valueCount: Int64 = 0
    /// Where the present value begins; `nil` where it cannot be told from others.
    var element: UnsafePointer<UInt8>?

    init(_ header: ContainerHeader, _ reader: AvroReader, rest: ByteView = .null) {
        self.header = header
        self.reader = reader
        self.rest = rest
    }
}

extension EventDecoder {
    /// Starts on a block of a container file; `next(into:)` then hands out its events.
    ///
    /// - Parameters:
    ///   - block: whose data must stay in place until the next `begin`.
    ///   - hint: as for a record.
    @discardableResult
    public func begin(_ block: ContainerBlock, hint: TypeHint = .none) -> RecordShape {
        start(on: block.data, hint: hint)
        let reader = readers.reader(of: block.header.schema)
        guard reader.holdsRecords else { return fail(.notARecordSchema(block.header.schema)) }
        let position = ContainerPosition(block.header, reader)
        if let rejection = open(block.data, valueCount: block.valueCount, position) { return fail(rejection) }
        container = position
        encoding = .container
        return .batch
    }

    /// Starts on a whole container file.
    func beginContainer() -> RecordShape {
        let header: ContainerHeader
        do {
            guard let read = try ContainerHeader.read(value, schemaOf: schema(inContainer:)) else {
                return fail(.brokenContainer("its header ends in the middle"))
            }
            header = read
        } catch {
            return fail(error.isSchema ? .unusableSchema(error.description) : .brokenContainer(error.description))
        }
        let reader = readers.reader(of: header.schema)
        guard reader.holdsRecords else { return fail(.notARecordSchema(header.schema)) }
        container = ContainerPosition(header, reader, rest: value.dropping(header.size))
        encoding = .container
        return .batch
    }

    private func schema(inContainer text: String) throws(AvroSchema.Failure) -> AvroSchema { try readers.schema(text) }

    /// As `next(into:)`, for a container.
    func nextOfContainer(into event: inout Event, hint: () -> TypeHint) -> DecodedEvent? {
        guard let position = container else { return nil }
        position.element = nil
        while position.left == 0 {
            guard position.rest.count > 0 else { return nil }
            if let rejection = openNextBlock(position) {
                index += 1
                return .rejected(rejection)
            }
        }
        return nextValue(position, into: &event, hint: hint)
    }

    private func nextValue(
        _ position: ContainerPosition, into event: inout Event, hint: () -> TypeHint
    ) -> DecodedEvent {
        index += 1
        let start = position.cursor.place
        let isRead = position.reader.read(&position.cursor)
        position.left -= 1
        guard isRead, position.cursor.place > start, isAtEndIfLast(position) else {
            // Where the next value would begin, nobody knows.
            let number = position.valueCount - position.left
            position.left = 0
            return .rejected(rejection(at: position, number))
        }
        position.element = start
        return judge(
            position.reader.extracted, into: &event, schemaType: position.reader.eventType, .avro, hint: hint)
    }

    /// Whether nothing follows the last value of a block; what does makes the value doubtful.
    private func isAtEndIfLast(_ position: ContainerPosition) -> Bool {
        position.left > 0 || position.cursor.place == position.cursor.end || position.cursor.fail(.bytesLeft)
    }

    private func rejection(at position: ContainerPosition, _ number: Int64) -> Rejection {
        let place = " of the block's content, in value \(number) of \(position.valueCount)"
        return position.reader.explain(position.cursor, from: position.content.start ?? position.cursor.place, place)
    }

    // MARK: Blocks

    /// Goes on to the next block; a rejection says why it cannot be used, and the one after it is next.
    private func openNextBlock(_ position: ContainerPosition) -> Rejection? {
        let header = position.header
        let offset = value.count - position.rest.count
        guard let head = ContainerBlockHead(position.rest), let start = position.rest.start else {
            return lose(position, "the block at byte \(offset) does not begin as one")
        }
        guard head.dataSize <= Int64(position.rest.count - head.size - ContainerHeader.syncSize) else {
            return lose(position, "the block at byte \(offset) ends beyond the value")
        }
        let end = head.size + Int(head.dataSize)
        guard header.isSync(start + end) else {
            return lose(position, "the block at byte \(offset) is damaged: its sync marker is not where it ends")
        }
        let data = ByteView(start: start + head.size, count: Int(head.dataSize))
        position.rest = position.rest.dropping(end + ContainerHeader.syncSize)
        return open(data, valueCount: head.valueCount, position)
    }

    /// Gives up what comes before the next marker.
    private func lose(_ position: ContainerPosition, _ reason: String) -> Rejection {
        if let marker = position.header.findSync(in: position.rest) {
            position.rest = position.rest.dropping(marker + ContainerHeader.syncSize)
        } else {
            position.rest = .null
        }
        return .brokenContainer(reason)
    }

    /// Decompresses a block.
    private func open(_ data: ByteView, valueCount: Int64, _ position: ContainerPosition) -> Rejection? {
        do {
            position.content = try decompressor.content(data, position.header.codec)
        } catch {
            return .brokenContainer("a block of \(valueCount) values is lost: \(error.reason)")
        }
        guard valueCount <= Int64(position.content.count) else {
            return .brokenContainer(
                "a block says that it has \(valueCount) values, but has \(position.content.count) bytes")
        }
        position.cursor = AvroCursor(
            UnsafeBufferPointer(start: position.content.start, count: position.content.count))
        position.valueCount = valueCount
        position.left = valueCount
        guard valueCount > 0 || position.content.count == 0 else {
            return .brokenContainer("a block without values has \(position.content.count) bytes")
        }
        return nil
    }

    // MARK: Single values

    /// The present value as a container file of its own, which can be read without the others.
    func containerOfElement() -> ByteView {
        guard let position = container, let start = position.element else { return value }
        let content = UnsafeRawBufferPointer(start: start, count: position.cursor.place - start)
        let file = ElementFile(content, of: position.header)
        element = file
        return file.bytes
    }
}

/// A container file with one value, which is not compressed.
final class ElementFile {
    private let memory: UnsafeMutableRawBufferPointer

    init(_ value: UnsafeRawBufferPointer, of header: ContainerHeader) {
        var bytes = ContainerHeader.magic
        func append(_ number: Int) {
            var rest = UInt64(number) << 1
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        func append(_ text: String) {
            append(text.utf8.count)
            bytes += text.utf8
        }
        append(1)
        append("avro.schema")
        append(header.schema.text)
        append(0)
        bytes += header.sync
        append(1)
        append(value.count)
        bytes += value
        bytes += header.sync
        memory = .allocate(byteCount: bytes.count + EventDecoder.padding, alignment: 16)
        memory.copyBytes(from: bytes)
        count = bytes.count
    }

    private let count: Int

    deinit { memory.deallocate() }

    var bytes: ByteView { ByteView(UnsafeRawBufferPointer(rebasing: memory[..<count])) }
}
