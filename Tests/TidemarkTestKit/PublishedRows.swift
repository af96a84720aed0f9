internal import Foundation

/// Reads records of the report topic as the plain evaluation writes them.
public enum PublishedRows {
    /// Rows as `replay` prints them: sorted by kind of row and key, without `revision` and `as_of`.
    ///
    /// - Parameter latest: the latest value of each key.
    public static func lines(_ latest: [[UInt8]: [UInt8]]) -> String {
        let kinds = ["message_day", "campaign_day", "campaign_total"]
        func place(_ key: String) -> Int { kinds.firstIndex { key.hasPrefix("[\"\($0)\"") } ?? kinds.count }
        let rows = latest.map { (key: String(decoding: $0.key, as: UTF8.self), value: $0.value) }
        return rows.sorted { left, right in
            let (first, second) = (place(left.key), place(right.key))
            return first != second ? first < second : left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }.map { line($0.value) + "\n" }.joined()
    }

    private static func line(_ record: [UInt8]) -> String {
        let text = String(decoding: record, as: UTF8.self)
        guard let end = text.range(of: ",\"revision\":", options: .backwards) else { return text }
        return text[..<end.lowerBound] + "}"
    }

    /// Revisions must grow with each version of a row, through all restarts.
    ///
    /// - Parameter records: in the order of their partitions, tombstones included.
    public static func revisionsThatFell(_ records: [(key: [UInt8], value: [UInt8]?)]) -> [String] {
        var last: [[UInt8]: Int64] = [:]
        var fallen: [String] = []
        for (key, value) in records {
            guard let value else { continue }
            let text = String(decoding: value, as: UTF8.self)
            let digits = text.components(separatedBy: ",\"revision\":").last?.prefix { $0.isNumber } ?? ""
            guard let revision = Int64(digits) else { return ["no revision in \(text)"] }
            if let before = last[key], revision <= before {
                fallen.append("\(String(decoding: key, as: UTF8.self)): \(before), then \(revision)")
            }
            last[key] = revision
        }
        return fallen
    }
}
