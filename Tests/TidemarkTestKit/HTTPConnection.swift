import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A connection to a port of this host, as raw as it gets, that can be used again.
public final class HTTPConnection {
    /// An answer.
    public struct Answer {
        /// The status code.
        public var status = 0
        /// By name in small letters.
        public var headers: [String: String] = [:]
        /// The body.
        public var body = ""
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Connects.
    public init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        // Nobody waits for ever for a server that does not answer.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Whether all of it went out.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Whether all of it went out.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// The next answer; `nil` when the server closes the connection first.
    public func receive() -> Answer? {
        while true {
            if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
                let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                var answer = Answer()
                answer.status = Int(lines[0].split(separator: " ")[1]) ?? 0
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    answer.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
                }
                let size = answer.headers["content-length"].flatMap { Int($0) } ?? 0
                while buffer.count < end.upperBound + size { guard fill() else { return nil } }
                answer.body = String(decoding: buffer[end.upperBound..<end.upperBound + size], as: UTF8.self)
                buffer.removeFirst(end.upperBound + size)
                return answer
            }
            guard fill() else { return nil }
        }
    }

    private func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }
}
