import Foundation
import Synchronization

/// A port of this host that leads to a server, or nowhere, as a test wants it.
final class Relay: Sendable {
    let port: UInt16
    private let path: String
    private let target: UInt16
    private let listener = Mutex<Int32?>(nil)

    /// Takes a port that leads nowhere yet.
    ///
    /// - Parameter url: of a server on this host.
    init(to url: String) throws {
        guard let parts = URLComponents(string: url), let number = parts.port else {
            throw TestFailure("\(url) has no port")
        }
        target = UInt16(number)
        path = parts.path
        // Below those that the system hands out, so that nobody is given it before it is opened.
        port = UInt16.random(in: 12_000...19_000)
    }

    deinit { close() }

    /// The URL that leads through here.
    var url: String { "http://127.0.0.1:\(port)\(path)" }

    /// From now on it leads to the server.
    func open() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard Relay.with(port, { bind(socket, $0, $1) }) == 0, listen(socket, 16) == 0 else {
            throw TestFailure("port \(port) is taken")
        }
        listener.withLock { $0 = socket }
        Thread.detachNewThread { [target] in
            while case let client = accept(socket, nil, nil), client >= 0 {
                let server = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                guard Relay.with(target, { connect(server, $0, $1) }) == 0 else {
                    Glibc.close(server)
                    Glibc.close(client)
                    continue
                }
                let sides = Sides(client: client, server: server)
                sides.copy(from: client, to: server)
                sides.copy(from: server, to: client)
            }
            // Not earlier: another socket would get the number.
            Glibc.close(socket)
        }
    }

    /// From now on it leads nowhere; connections that there are live on.
    func close() {
        guard
            let socket = listener.withLock({ listener in
                defer { listener = nil }
                return listener
            })
        else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private static func with(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// The two ends of a connection, closed when both directions have ended.
private final class Sides: Sendable {
    private let client: Int32
    private let server: Int32

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    deinit {
        Glibc.close(client)
        Glibc.close(server)
    }

    func copy(from source: Int32, to target: Int32) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            copying: while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
                var sent = 0
                while sent < count {
                    let part = buffer[sent..<count].withUnsafeBytes {
                        send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard part > 0 else { break copying }
                    sent += part
                }
            }
            shutdown(target, Int32(SHUT_WR))
            withExtendedLifetime(self) {}
        }
    }
}
