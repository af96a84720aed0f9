import Testing

@testable import tidemark

@Suite("Rate of load")
struct PacerTests {
    /// What a sender does that is woken `late` after the time that it asked for, and needs `each` to send a record.
    private struct Run {
        var pacer: Pacer
        var now = Duration.zero
        var bursts: [(time: Duration, count: Int)] = []
        var sent: Int { bursts.reduce(0) { $0 + $1.count } }

        init(rate: Int) { pacer = Pacer(rate: rate) }

        mutating func go(until end: Duration, late: Duration = .microseconds(60), each: Duration = .nanoseconds(500)) {
            while now < end {
                switch pacer.step(at: now) {
                case .send(let count):
                    bursts.append((now, count))
                    now += each * count
                case .wait(let time):
                    now += time + late
                }
            }
        }

        /// Records sent from a time on, up to another.
        func sent(in span: Range<Duration>) -> Int {
            bursts.reduce(0) { $0 + (span.contains($1.time) ? $1.count : 0) }
        }
    }

    @Test(
        "The rate is held over any second, whatever it is", arguments: [1, 7, 999, 1_000, 20_000, 200_000, 1_500_000])
    func rate(rate: Int) {
        var run = Run(rate: rate)
        run.go(until: .seconds(20))
        for second in 1..<20 {
            let count = run.sent(in: Duration.seconds(second)..<Duration.seconds(second + 1))
            #expect(abs(count - rate) <= max(1, rate / 200), "\(count) in second \(second)")
        }
        #expect(abs(run.sent - 20 * rate) <= max(1, rate / 400), "\(run.sent) in 20 s")
    }

    @Test(
        "No record goes before it is due, and none of a rate that can be held goes 10 ms after",
        arguments: [3, 1_000, 130_000])
    func evenness(rate: Int) {
        var run = Run(rate: rate)
        run.go(until: .seconds(4))
        var sent = 0
        for (time, count) in run.bursts {
            sent += count
            #expect(time >= .seconds(1) * (Double(sent) / Double(rate)) - .nanoseconds(1))
            #expect(count <= max(1, rate / 100), "\(count) at once")
        }
        #expect(run.pacer.greatestLag < .milliseconds(10))
    }

    private func steps(_ pacer: inout Pacer, at times: [Duration]) -> [Pacer.Step] {
        times.map { pacer.step(at: $0) }
    }

    @Test("Steps at given times")
    func steps() {
        var pacer = Pacer(rate: 1_000)
        let times = [Duration.zero, .milliseconds(1), .microseconds(2_050), .microseconds(2_050), .microseconds(4_050)]
        let taken = steps(&pacer, at: times)
        #expect(
            taken == [.wait(.milliseconds(2)), .wait(.milliseconds(1)), .send(2), .wait(.milliseconds(2)), .send(2)])
        #expect(pacer.greatestLag == .microseconds(1_050))
        var slow = Pacer(rate: 2)
        let waits = steps(&slow, at: [.zero, .milliseconds(499), .milliseconds(500), .milliseconds(501)])
        #expect(
            waits == [.wait(.milliseconds(500)), .wait(.milliseconds(1)), .send(1), .wait(.milliseconds(499))])
    }

    @Test("After standing still it catches up at twice the rate, in bursts of 10 ms at most, and loses nothing")
    func standstill() {
        var run = Run(rate: 100_000)
        run.go(until: .seconds(1))
        run.now += .seconds(1)
        run.go(until: .seconds(5))
        let again = run.bursts.filter { $0.time >= .seconds(2) }
        #expect(again[0].count == 1_000)
        #expect(again.allSatisfy { $0.count <= 1_000 })
        let caughtUp = run.sent(in: Duration.milliseconds(2_100)..<Duration.milliseconds(2_600))
        #expect(caughtUp > 90_000 && caughtUp <= 102_000, "\(caughtUp) in half a second")
        #expect(abs(run.sent - 500_000) <= 250)
        #expect(abs(run.sent(in: Duration.seconds(4)..<Duration.seconds(5)) - 100_000) <= 500)
        #expect(run.pacer.greatestLag > .milliseconds(990) && run.pacer.greatestLag < .milliseconds(1_010))
    }

    @Test("A target that is too slow is never waited for")
    func overload() {
        var run = Run(rate: 100_000)
        run.go(until: .seconds(3), each: .microseconds(20))
        #expect(run.sent > 149_000 && run.sent < 151_000)
        #expect(run.pacer.greatestLag > .milliseconds(1_400))
    }

    @Test("Days at the highest rate overflow nothing")
    func highest() {
        var pacer = Pacer(rate: Pacer.maximumRate)
        let step = pacer.step(at: .seconds(864_000))
        #expect(step == .send(10_000_000))
        #expect(pacer.greatestLag > .seconds(863_999))
    }
}
