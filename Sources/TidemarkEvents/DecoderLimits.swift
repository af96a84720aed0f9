/// How large the parts of a record may be, in bytes. What is larger is refused as `too_large`.
public struct DecoderLimits: Equatable, Sendable {
    /// A whole record.
    public var maxRecordBytes: Int
    /// An id, the platform or a button's action type.
    public var maxIdentifierBytes: Int
    /// A name: `campaign_name` and its kin, `button_string`.
    public var maxNameBytes: Int

    /// Limits, by default 4 MiB, 4 KiB and 64 KiB less one.
    public init(maxRecordBytes: Int = 4 << 20, maxIdentifierBytes: Int = 4096, maxNameBytes: Int = 65535) {
        self.maxRecordBytes = maxRecordBytes
        self.maxIdentifierBytes = maxIdentifierBytes
        self.maxNameBytes = maxNameBytes
    }
}
