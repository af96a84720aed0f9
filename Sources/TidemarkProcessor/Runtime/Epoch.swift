internal import Foundation
internal import TidemarkKafka

/// Counts how often an application was begun anew (`Reset`). Deltas, names and positions of another epoch are not ours.
///
/// A record of the names topic, which every process reads at start.
enum Epoch {
    static let key = Array("epoch".utf8)
    /// The epoch of an application that was never reset.
    static let first = 1

    static func encode(_ epoch: Int) -> [UInt8] { Array(String(epoch).utf8) }

    /// The epoch of an application.
    static func read(names topic: String, _ reader: PartitionReader) throws -> Int {
        var epoch = Epoch.first
        try reader.read(TopicPartition(topic: topic, partition: 0)) { record in
            guard record.keyBytes == key, let value = record.value else { return }
            guard let number = Int(String(decoding: value, as: UTF8.self)) else {
                throw RunFailure("the epoch record of \(topic) cannot be read")
            }
            epoch = number
        }
        return epoch
    }
}
