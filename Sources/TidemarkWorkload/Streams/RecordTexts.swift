/// The parts of records that are the same for many, in one stretch of memory: looking one up touches no reference count.
///
/// Unchecked, because nothing changes once it is made.
final class RecordTexts: @unchecked Sendable {
    /// The fields of a message, with a comma behind each.
    struct Message {
        let campaign: UnsafeRawBufferPointer
        let canvas: UnsafeRawBufferPointer
    }

    /// Where a message's fields are: campaign and canvas, before and after its names change.
    private struct Place {
        var earlier: (campaign: Range<Int32>, canvas: Range<Int32>)
        var later: (campaign: Range<Int32>, canvas: Range<Int32>)
        var change: UInt32
    }

    /// No message's fields are longer, in bytes.
    let longestOfMessage: Int
    private let memory: UnsafeMutableRawBufferPointer
    private let messages: UnsafeMutableBufferPointer<Place>
    private let beginnings: UnsafeMutableBufferPointer<Range<Int32>>
    private let apps: [Range<Int32>]
    private let ofWorkspace: Range<Int32>

    init(_ catalog: Catalog, _ options: WorkloadOptions) {
        var bytes: [UInt8] = []
        func add(_ text: some Sequence<UInt8>) -> Range<Int32> {
            let start = Int32(bytes.count)
            bytes.append(contentsOf: text)
            return start..<Int32(bytes.count)
        }
        let seed = SplitMix64.mix(options.seed ^ 0xA9)
        ofWorkspace = add(String(written: { $0.append(uuid: seed) }).utf8)
        apps = (1...2).map { app in
            add(String(written: { $0.append(uuid: SplitMix64.mix(seed &+ UInt64(app))) }).utf8)
        }
        let beginnings = WorkloadEventType.allCases.map { type in
            add((options.namesTypeInRecord ? "{\"event_type\":\"\(type.name)\",\"id\":\"" : "{\"id\":\"").utf8)
        }
        let places = catalog.messages.map { message in
            Place(
                earlier: (add(message.earlier.campaign), add(message.earlier.canvas)),
                later: (add(message.later.campaign), add(message.later.canvas)), change: message.change)
        }
        longestOfMessage = catalog.messages.reduce(0) { longest, message in
            [message.earlier, message.later].reduce(longest) { max($0, $1.campaign.count + $1.canvas.count) }
        }
        memory = .allocate(byteCount: bytes.count, alignment: 64)
        memory.copyBytes(from: bytes)
        messages = .allocate(capacity: places.count)
        _ = messages.initialize(from: places)
        self.beginnings = .allocate(capacity: beginnings.count)
        _ = self.beginnings.initialize(from: beginnings)
    }

    deinit {
        memory.deallocate()
        messages.deallocate()
        beginnings.deallocate()
    }

    /// The id of the workspace.
    var workspace: UnsafeRawBufferPointer { text(ofWorkspace) }

    /// The id of an app, by its number.
    func app(_ number: Int) -> UnsafeRawBufferPointer { text(apps[number]) }

    /// What records of a type begin with, up to their id.
    func beginning(of type: WorkloadEventType) -> UnsafeRawBufferPointer { text(beginnings[Int(type.rawValue)]) }

    /// The fields of a message in an event of that time.
    func message(_ number: UInt16, at time: UInt32) -> Message {
        let place = messages[Int(number)]
        let texts = time < place.change ? place.earlier : place.later
        return Message(campaign: text(texts.campaign), canvas: text(texts.canvas))
    }

    private func text(_ range: Range<Int32>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.baseAddress.map { $0 + Int(range.lowerBound) }, count: range.count)
    }
}
