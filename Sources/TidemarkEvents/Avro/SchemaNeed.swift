extension EventDecoder {
    /// The id of the schema that `begin` would ask for; `nil` where a value can be decoded, if only to be refused.
    ///
    /// For those who have to know before anything is done about a record.
    public func schemaNeeded(by value: ByteView) -> UInt32? {
        guard let start = value.start, value.count > 0, value.count <= limits.maxRecordBytes else { return nil }
        guard case .registry(let id) = Framing.of(start, value.count), registered.find(id) == nil else { return nil }
        return id
    }
}
