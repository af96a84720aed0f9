internal import TidemarkEvents
internal import TidemarkRegistry

extension SchemaFetcher {
    /// Gives a decoder the writer schema that a value needs, however long that takes: for work that nobody waits for.
    func supply(_ decoder: EventDecoder, for value: ByteView) {
        guard value.start?.pointee == 0, let id = decoder.schemaNeeded(by: value) else { return }
        WriterSchemas.give(decoder, settled(id), of: id)
    }
}
