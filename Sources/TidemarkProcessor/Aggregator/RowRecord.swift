internal import TidemarkReports

/// Writes the values of report records in the configured encoding.
struct RowRecord {
    let encoding: RecordEncoding
    private var json = JSONWriter()
    private var avro = AvroRecordWriter()

    init(encoding: RecordEncoding) { self.encoding = encoding }

    /// The record of a row as it stands.
    mutating func write(
        _ row: Int, of store: RowStore, _ renderer: RowRenderer, _ names: NameTable,
        _ version: (revision: Int64, asOf: Int64)
    ) -> [UInt8] {
        switch encoding {
        case .json:
            json.removeAll()
            renderer.writeRecord(row, of: store, names: names, version: version, to: &json)
            return json.bytes
        case .avro(let schemaID):
            avro.removeAll()
            renderer.writeAvro(row, of: store, names: names, version: version, schemaID: schemaID, to: &avro)
            return avro.bytes
        }
    }
}
