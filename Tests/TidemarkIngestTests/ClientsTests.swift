import Foundation
import Testing
import TidemarkConfiguration
import TidemarkTestKit

@testable import TidemarkIngest

@Suite("Clients that mean harm or are slow", .serialized)
struct ClientsTests {
    @Test func aHeadThatTricklesIsCutOff() throws {
        let endpoint = try TestEndpoint { $0.headTimeout = .milliseconds(300) }
        let client = try endpoint.client()
        // A byte now and then: never silent for long.
        var isOpen = true
        for byte in head(length: 2).utf8 where isOpen {
            isOpen = client.send([byte])
            usleep(20_000)
        }
        #expect(client.receive() == nil)
        #expect(endpoint.server.figures.timedOut == 1)
        #expect(try endpoint.client().post("[]")?.status == 200)
    }

    @Test func aBodyThatTricklesIsCutOff() throws {
        let endpoint = try TestEndpoint { $0.bodyTimeout = .milliseconds(300) }
        let client = try endpoint.client()
        client.send(head(length: 1_000))
        var isOpen = true
        for _ in 0..<200 where isOpen {
            isOpen = client.send([0x20])
            usleep(10_000)
        }
        #expect(client.receive() == nil)
        #expect(eventually { endpoint.server.figures.brokenOff == 1 })
        #expect(endpoint.server.figures.timedOut == 1)
        #expect(eventually { endpoint.server.figures.heldBytes == 0 })
    }

    @Test func announcingABodyHoldsNothing() throws {
        let endpoint = try TestEndpoint { $0.heldBytes = 1 << 20 }
        let silent = try (0..<50).map { _ in try endpoint.client() }
        for client in silent { client.send(head(length: 8 << 20)) }
        #expect(eventually { endpoint.server.figures.requests == 50 })
        #expect(endpoint.server.figures.heldBytes == 0)
        #expect(try endpoint.client().post(batch([event(1)]))?.status == 200)
        withExtendedLifetime(silent) {}
    }

    @Test func anIdleConnectionIsClosedAndNotCountedAsSlow() throws {
        let endpoint = try TestEndpoint { $0.idleTimeout = .milliseconds(200) }
        let client = try endpoint.client()
        #expect(client.post("[]")?.status == 200)
        #expect(client.receive() == nil)
        #expect(endpoint.server.figures.timedOut == 0)
    }

    @Test func aPostThatWaitsForKafkaIsNotCutOff() throws {
        let endpoint = try TestEndpoint {
            $0.headTimeout = .milliseconds(200)
            $0.bodyTimeout = .milliseconds(200)
            $0.idleTimeout = .milliseconds(200)
        }
        endpoint.sink.hold()
        let patient = try endpoint.client()
        let body = batch([event(1)])
        patient.send(head(length: body.utf8.count) + body)
        #expect(eventually { endpoint.sink.waiting == 1 })
        // Several limits pass: a connection that says nothing is closed by then.
        let silent = try endpoint.client()
        #expect(silent.receive() == nil)
        endpoint.sink.settle()
        #expect(patient.receive()?.status == 200)
    }

    @Test func thousandsOfSilentConnectionsDoNotKeepOthersOut() throws {
        let endpoint = try TestEndpoint { $0.headTimeout = .seconds(60) }
        let count = ClientsTests.connectionsThatTheSystemAllows(3_000)
        let silent = try (0..<count).map { _ in try endpoint.client() }
        #expect(eventually { endpoint.server.figures.connections == count })
        let client = try endpoint.client()
        for number in 0..<100 { #expect(client.post(batch([event(number)]))?.status == 200) }
        withExtendedLifetime(silent) {}
    }

    /// Each connection is two open files here, for both of its ends are in this process.
    private static func connectionsThatTheSystemAllows(_ wanted: Int) -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(wanted * 2 + 1_000)))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(wanted, max(100, (Int(clamping: limit.rlim_cur) - 500) / 2))
    }

    @Test func whenAllConnectionsAreTakenSlowOnesGiveWay() throws {
        let endpoint = try TestEndpoint {
            $0.connections = 16
            $0.headTimeout = .milliseconds(500)
        }
        let silent = try (0..<200).map { _ in try endpoint.client() }
        let client = try endpoint.client()
        #expect(client.post(batch([event(1)]))?.status == 200)
        withExtendedLifetime(silent) {}
    }

    @Test func junkHarmsNobody() throws {
        let endpoint = try TestEndpoint()
        var generator = SystemRandomNumberGenerator()
        let junk = [
            "\r\n\r\n", "POST\r\n\r\n", "POST /currents HTTP/9.9\r\n\r\n", head(length: nil, "Content-Length: x\r\n"),
        ]
        for text in junk {
            let client = try endpoint.client()
            client.send(text)
        }
        for _ in 0..<50 {
            let client = try endpoint.client()
            client.send((0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        #expect(try endpoint.client().post("[]")?.status == 200)
    }

    @Test func manyAtOnceAllGetTheirAnswer() async throws {
        let endpoint = try TestEndpoint()
        let port = endpoint.port
        let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
            for client in 0..<20 {
                group.addTask {
                    let connection = try HTTPConnection(port)
                    return (0..<50).map { connection.post(batch([event(client * 50 + $0)]))?.status ?? 0 }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(statuses == [Int](repeating: 200, count: 1_000))
        #expect(Set(endpoint.sink.sent.map(\.value)).count == 1_000)
        #expect(endpoint.endpoint.status.events == 1_000)
    }
}
