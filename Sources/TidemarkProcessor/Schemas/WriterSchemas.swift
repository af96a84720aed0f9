internal import TidemarkEvents
internal import TidemarkRegistry

/// Where schemas come from: a registry, asked by a thread of its own.
protocol SchemaSource: Sendable {
    /// Where they come from, for people.
    var addresses: String { get }

    /// What is known of a schema. Returns at once; one that is not there yet is fetched from now on.
    func state(of id: UInt32) -> SchemaFetcher.State
}

extension SchemaFetcher: SchemaSource {}

/// Gives the decoder of one thread the writer schemas that its records need, and waits for none of them.
final class WriterSchemas {
    /// How long the decoder refuses values of an id that the registry did not know, before it is looked for again.
    private static let refusalHolds = Duration.seconds(60)

    private let source: any SchemaSource
    private let decoder: EventDecoder
    private let control: RunControl
    private var refused: [UInt32] = []
    /// When they are looked for again.
    private var forgetsAt: ContinuousClock.Instant?

    init(_ source: any SchemaSource, _ decoder: EventDecoder, control: RunControl) {
        self.source = source
        self.decoder = decoder
        self.control = control
    }

    // Nobody else would have them looked for again.
    deinit { for id in refused { decoder.forget(schemaID: id) } }

    /// Where schemas come from, for people.
    var addresses: String { source.addresses }

    /// The schema that has to come before a record can be decoded; `nil` where it can be, if only to be refused.
    @inline(__always)
    func wait(for value: UnsafeRawBufferPointer?) -> SchemaWait? {
        guard let value, value.first == 0, let id = decoder.schemaNeeded(by: ByteView(value)) else { return nil }
        return wait(for: id)
    }

    /// Takes a schema over if it has come, or what says that it will not.
    ///
    /// - Returns: the wait for it, where that goes on.
    func wait(for id: UInt32) -> SchemaWait? {
        let state = source.state(of: id)
        if case .wanted(let wait) = state { return wait }
        WriterSchemas.give(decoder, state, of: id)
        if case .unknown = state {
            refused.append(id)
            forgetsAt = forgetsAt ?? control.now + WriterSchemas.refusalHolds
        }
        return nil
    }

    /// Has ids that were refused some time ago looked for again.
    func forgetOldRefusals() {
        guard let forgetsAt, forgetsAt <= control.now else { return }
        for id in refused { decoder.forget(schemaID: id) }
        refused.removeAll()
        self.forgetsAt = nil
    }

    /// Gives a decoder what has come of a schema.
    static func give(_ decoder: EventDecoder, _ state: SchemaFetcher.State, of id: UInt32) {
        switch state {
        case .wanted: break
        case .unknown(let reason): decoder.refuse(schemaID: id, reason: reason)
        case .known(let schema):
            guard schema.kind == .avro else { return decoder.add(.json, forID: id) }
            do throws(AvroSchema.Failure) {
                decoder.add(.avro(try AvroSchema(json: schema.text)), forID: id)
            } catch {
                decoder.refuse(schemaID: id, reason: "\(error)")
            }
        }
    }
}
