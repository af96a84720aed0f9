import Foundation
import TidemarkWorkload

/// Writes a sample stream as storage exports lay it out: Avro container files in a folder per event type.
final class ContainerFiles {
    private static let pieceSize = 1 << 20

    private struct OpenFile {
        var content: AvroSampleFile
        let handle: FileHandle
    }

    private let folder: URL
    private var files: [String: OpenFile] = [:]

    /// - Parameter path: the folder, which is made where it is missing.
    init(path: String) { folder = URL(fileURLWithPath: path) }

    /// Adds an event to the file of its type.
    func take(_ event: SampleEvent) throws(CommandFailure) {
        if files[event.eventType] == nil { files[event.eventType] = try open(event.eventType) }
        // Taken out while it changes, so that its bytes are not copied.
        guard var file = files.removeValue(forKey: event.eventType) else { return }
        file.content.append(event)
        if file.content.bytes.count >= Self.pieceSize { try write(&file, event.eventType) }
        files[event.eventType] = file
    }

    /// Writes what is left.
    func finish() throws(CommandFailure) {
        for (type, var file) in files.sorted(by: { $0.key < $1.key }) {
            file.content.endBlock()
            try write(&file, type)
        }
        files.removeAll()
    }

    private func path(_ eventType: String) -> URL {
        folder.appendingPathComponent("event_type=\(eventType)").appendingPathComponent("sample.avro")
    }

    private func open(_ eventType: String) throws(CommandFailure) -> OpenFile {
        let url = path(eventType)
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
                throw CommandFailure("cannot write \(url.path): \(String(cString: strerror(errno)))")
            }
            return OpenFile(
                content: AvroSampleFile(eventType: eventType), handle: try FileHandle(forWritingTo: url))
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("cannot write \(url.path): \(error.localizedDescription)")
        }
    }

    private func write(_ file: inout OpenFile, _ eventType: String) throws(CommandFailure) {
        do {
            try file.handle.write(contentsOf: Data(file.content.bytes))
        } catch {
            throw CommandFailure("cannot write \(path(eventType).path): \(error.localizedDescription)")
        }
        file.content.removeAll()
    }
}
