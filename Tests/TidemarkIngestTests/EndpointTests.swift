import Foundation
import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkProcessor
import TidemarkTestKit

@testable import TidemarkIngest

@Suite("The endpoint on a loopback port", .serialized)
struct EndpointTests {
    private static let session = "users.behaviors.app.SessionStart"

    @Test func aPostIsAnsweredWhenAllOfItIsAcknowledged() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.hold()
        let client = try endpoint.client()
        let body = batch([event(1), event(2, user: "u-8")])
        client.send(head(length: body.utf8.count) + body)
        #expect(eventually { endpoint.sink.waiting == 2 })
        // Nothing is said before.
        #expect(endpoint.endpoint.status.answers.isEmpty)
        endpoint.sink.settle()
        let answer = client.receive()
        #expect(answer?.status == 200)
        #expect(answer?.body == "{\"message\":\"success\",\"events\":2,\"dead_letters\":0}\n")
        #expect(
            endpoint.sink.sent == [
                StubSink.Sent(value: event(1), key: "u-7", type: Self.session),
                StubSink.Sent(value: event(2, user: "u-8"), key: "u-8", type: Self.session),
            ])
        #expect(endpoint.endpoint.status.events == 2)
        #expect(endpoint.endpoint.status.durations.count == 1)
    }

    @Test func badEventsOfABatchAreDeadLettersAndTheAnswerIsGood() throws {
        let endpoint = try TestEndpoint()
        let answer = try endpoint.client().post(batch([event(1), event(2, user: nil), event(3)]))
        #expect(answer?.status == 200)
        #expect(answer?.body == "{\"message\":\"success\",\"events\":2,\"dead_letters\":1}\n")
        #expect(endpoint.sink.sent.map(\.code) == [nil, .missingField, nil])
        #expect(endpoint.sink.sent[1].index == 1)
        #expect(endpoint.endpoint.status.deadLetters == [.missingField: 1])
    }

    @Test(arguments: ["", " ", "{\"events\":[]}", "[]"])
    func aProbeIsAnsweredAndDoesNothing(body: String) throws {
        let endpoint = try TestEndpoint()
        let answer = try endpoint.client().post(body)
        #expect(answer?.status == 200)
        #expect(answer?.body == "{\"message\":\"success\",\"events\":0,\"dead_letters\":0}\n")
        #expect(endpoint.sink.sent.isEmpty)
    }

    @Test func withoutAValidTokenNothingIsLearnt() throws {
        let endpoint = try TestEndpoint()
        for (path, token) in [("/currents", nil), ("/currents", "wrong-token-0123456"), ("/nowhere", nil)] {
            let client = try endpoint.client()
            let answer = client.post(batch([event(1)]), path, token: token)
            #expect(answer?.status == 401)
            #expect(answer?.headers["www-authenticate"] == "Bearer realm=\"tidemark\"")
            #expect(client.receive() == nil)
        }
        #expect(endpoint.sink.sent.isEmpty)
    }

    @Test func otherPathsMethodsAndEncodingsAreRefused() throws {
        let endpoint = try TestEndpoint()
        let client = try endpoint.client()
        #expect(client.post(batch([event(1)]), "/nowhere")?.status == 404)
        #expect(client.post(Array("x".utf8), "/currents", "Content-Encoding: br\r\n")?.status == 415)
        client.send("GET /currents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n")
        let answer = client.receive()
        #expect(answer?.status == 405)
        #expect(answer?.headers["allow"] == "POST")
        // The connection is still good.
        #expect(client.post(batch([event(1)]), "/?x=1")?.status == 200)
    }

    @Test func aBodyThatCanNeverBeReadIsRefusedForGood() throws {
        let endpoint = try TestEndpoint()
        let client = try endpoint.client()
        for body in ["{", "{\"events\":[{]}", "5", "{\"foo\":1}"] {
            #expect(client.post(body)?.status == 400, "\(body)")
        }
        #expect(client.post(Array("no gzip".utf8), "/currents", "Content-Encoding: gzip\r\n")?.status == 400)
        #expect(endpoint.sink.sent.isEmpty)
    }

    @Test func gzipIsTaken() throws {
        let endpoint = try TestEndpoint()
        let events = (0..<3_000).map { event($0) }
        let answer = try endpoint.client().post(
            gzip(Array(batch(events).utf8)), "/currents", "Content-Encoding: gzip\r\n")
        #expect(answer?.body == "{\"message\":\"success\",\"events\":3000,\"dead_letters\":0}\n")
        #expect(endpoint.sink.sent.map(\.value) == events)
    }

    @Test func aBombIsRefused() throws {
        let endpoint = try TestEndpoint { $0.inflatedBytes = 1 << 20 }
        let bomb = gzip([UInt8](repeating: 0x20, count: 50_000_000), level: 9)
        let client = try endpoint.client()
        #expect(client.post(bomb, "/currents", "Content-Encoding: gzip\r\n")?.status == 413)
        #expect(client.post(batch([event(1)]))?.status == 200)
        #expect(eventually { endpoint.server.figures.heldBytes == 0 })
    }

    @Test func largeBodiesAreRefusedHoweverTheyCome() throws {
        let endpoint = try TestEndpoint { $0.bodyBytes = 4_096 }
        let body = batch((0..<40).map { event($0) })
        #expect(body.utf8.count > 4_096 && body.utf8.count < 8 * 4_096)
        let client = try endpoint.client()
        #expect(client.post(body)?.status == 413)
        client.send(head(length: nil, "Transfer-Encoding: chunked\r\n"))
        client.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
        #expect(client.receive()?.status == 413)
        // Whoever asks first is told at once, and the connection ends.
        let polite = try endpoint.client()
        polite.send(head(length: 1_000_000_000, "Expect: 100-continue\r\n"))
        #expect(polite.receive()?.status == 413)
        let endless = try endpoint.client()
        endless.send(head(length: 1_000_000_000))
        #expect(endless.receive()?.status == 413)
        #expect(endless.receive() == nil)
        #expect(client.post(batch([event(1)]))?.status == 200)
        #expect(eventually { endpoint.server.figures.heldBytes == 0 })
    }

    @Test func chunkedBodiesAreTaken() throws {
        let endpoint = try TestEndpoint()
        let client = try endpoint.client()
        client.send(head(length: nil, "Transfer-Encoding: chunked\r\n"))
        let body = batch([event(1), event(2)])
        for piece in [body.prefix(100), body.dropFirst(100)] {
            client.send("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
        }
        client.send("0\r\n\r\n")
        #expect(client.receive()?.body == "{\"message\":\"success\",\"events\":2,\"dead_letters\":0}\n")
    }

    @Test func aLargeHeadIsRefused() throws {
        let endpoint = try TestEndpoint { $0.headBytes = 4_096 }
        for size in [5_000, 100_000] {
            let client = try endpoint.client()
            client.send(head(length: 2, "X-Padding: \(String(repeating: "a", count: size))\r\n") + "[]")
            #expect([nil, 431, 400].contains(client.receive()?.status))
        }
        #expect(try endpoint.client().post("[]")?.status == 200)
    }

    @Test func requestsFollowEachOtherOnAConnection() throws {
        let endpoint = try TestEndpoint()
        let client = try endpoint.client()
        let bodies = (0..<50).map { batch([event($0)]) }
        // All at once: they are answered in order.
        client.send(bodies.map { head(length: $0.utf8.count) + $0 }.joined())
        for _ in bodies { #expect(client.receive()?.status == 200) }
        #expect(endpoint.sink.sent.map(\.value) == (0..<50).map { event($0) })
    }
}

@Suite("The endpoint when Kafka is slow or away", .serialized)
struct PressureTests {
    @Test func aRecordThatFailsMakesThePostFail() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.fail(at: 1, .messageTimedOut)
        let client = try endpoint.client()
        let body = batch([event(1), event(2), event(3)])
        let answer = client.post(body)
        #expect(answer?.status == 503)
        #expect(answer?.headers["retry-after"] == "5")
        #expect(endpoint.endpoint.status.events == 0)
        endpoint.sink.fail(at: 1, nil)
        #expect(client.post(body)?.status == 200)
        #expect(endpoint.endpoint.status.events == 3)
    }

    @Test func aFullQueueIsPressure() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.hold()
        endpoint.sink.refuse(at: 1, .queueFull)
        let client = try endpoint.client()
        let body = batch([event(1), event(2)])
        client.send(head(length: body.utf8.count) + body)
        // The one that was taken is waited for: its bytes are still in use.
        #expect(eventually { endpoint.sink.waiting == 1 })
        #expect(endpoint.endpoint.status.answers.isEmpty)
        endpoint.sink.settle()
        let answer = client.receive()
        #expect(answer?.status == 429)
        #expect(answer?.headers["retry-after"] == "1")
    }

    @Test func whatTheTopicDoesNotTakeIsADeadLetter() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.refuseOnce(at: 1, .messageTooLarge)
        let answer = try endpoint.client().post(batch([event(1), event(2), event(3)]))
        #expect(answer?.body == "{\"message\":\"success\",\"events\":2,\"dead_letters\":1}\n")
        #expect(endpoint.sink.sent.map(\.code) == [nil, .tooLarge, nil])
    }

    @Test func bodiesBeyondWhatMayBeHeldArePutOff() throws {
        let endpoint = try TestEndpoint {
            $0.heldBytes = 1 << 20
            $0.bodyBytes = 1 << 20
        }
        endpoint.sink.hold()
        let large = batch([event(1, more: ",\"x\":\"\(String(repeating: "y", count: 900_000))\"")])
        let first = try endpoint.client()
        first.send(head(length: large.utf8.count) + large)
        #expect(eventually { endpoint.sink.waiting == 1 })
        #expect(endpoint.server.figures.heldBytes == large.utf8.count)
        let second = try endpoint.client()
        let answer = second.post(large)
        #expect(answer?.status == 429)
        #expect(answer?.headers["retry-after"] == "1")
        // The connection goes on, and small posts still find room.
        second.send(head(length: 2) + "[]")
        #expect(second.receive()?.status == 200)
        endpoint.sink.settle()
        #expect(first.receive()?.status == 200)
        #expect(eventually { endpoint.server.figures.heldBytes == 0 })
    }

    @Test func whileKafkaIsAwayOnePostAtATimeTries() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.setAway(true)
        endpoint.sink.hold()
        let scout = try endpoint.client()
        let body = batch([event(1)])
        scout.send(head(length: body.utf8.count) + body)
        #expect(eventually { endpoint.sink.waiting == 1 })
        let other = try endpoint.client()
        let answer = other.post(body)
        #expect(answer?.status == 503)
        #expect(answer?.headers["retry-after"] == "5")
        #expect(endpoint.sink.sent.count == 1)
        endpoint.sink.setAway(false)
        endpoint.sink.settle()
        #expect(scout.receive()?.status == 200)
        other.send(head(length: body.utf8.count) + body)
        #expect(eventually { endpoint.sink.waiting == 1 })
        endpoint.sink.settle()
        #expect(other.receive()?.status == 200)
    }

    @Test func aClientThatLeavesHarmsNobody() throws {
        let endpoint = try TestEndpoint()
        endpoint.sink.hold()
        let body = batch([event(1)])
        do {
            let client = try endpoint.client()
            client.send(head(length: body.utf8.count) + body)
            #expect(eventually { endpoint.sink.waiting == 1 })
        }
        endpoint.sink.settle()
        #expect(eventually { endpoint.server.figures.requests == 0 })
        #expect(eventually { endpoint.server.figures.connections == 0 })
        #expect(endpoint.endpoint.status.events == 1)
    }
}
