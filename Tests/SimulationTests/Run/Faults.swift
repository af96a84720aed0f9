@testable import TidemarkWorkload

/// What goes wrong in a simulation, and how often. Each seed has its own mixture.
///
/// Unchecked: used by threads of the simulation, one at a time.
final class Faults: @unchecked Sendable {
    /// Probabilities: of calls first, then of what may happen at any step.
    struct Rates {
        /// An answer takes up to seconds.
        var slowAnswer = 0.0
        /// A request gets no answer in time.
        var lostAnswer = 0.0
        /// A coordinator refuses offsets for a reason that passes.
        var refusedOffsets = 0.0
        /// A coordinator refuses to commit for a reason that passes.
        var refusedCommit = 0.0
        /// A record is not delivered in time.
        var refusedRecord = 0.0
        /// A producer comes into a state that it cannot go on from.
        var fatalDelivery = 0.0
        /// A record finds no room in the producer.
        var fullQueue = 0.0
        /// Records are sent before the commit.
        var earlyDelivery = 0.0
        /// The request to end a transaction is lost: nothing is decided, and nobody knows.
        var lostEnd = 0.0
        /// The request to end a transaction arrives after its sender has given up.
        var lateEnd = 0.0
        /// A transaction is ended, and the answer is lost.
        var lostEndAnswer = 0.0
        /// Others go on between two items of a poll, or two records of a delivery.
        var interruptedPoll = 0.0
        /// Others go on while a thread asks no client for anything.
        var interruptedThought = 0.0
        /// A consumer cannot leave its group in time.
        var closeInVain = 0.0
        /// Markers of a transaction take up to seconds.
        var slowMarker = 0.0

        var crash = 0.0
        var stop = 0.0
        var freezeThread = 0.0
        var freezeProcess = 0.0
        /// A process is frozen for long while one of its threads has something in hand.
        var freezeInHand = 0.0
        var outage = 0.0
        var rebalance = 0.0
        var clean = 0.0
        var expire = 0.0
    }

    private(set) var rates = Rates()
    private unowned var scheduler: Scheduler!
    /// How much longer than asked waits may be: a machine that has much to do.
    private var longestStretch = 1
    private var largestPoll = 10_000
    private var fetchChance = 1.0

    /// Draws a mixture.
    func begin(_ scheduler: Scheduler) {
        self.scheduler = scheduler
        func draw(_ usual: Double) -> Double { usual * scheduler.random.pick([0, 0, 0.3, 1, 1, 4]) }
        rates.slowAnswer = draw(0.02)
        rates.lostAnswer = draw(0.01)
        rates.refusedOffsets = draw(0.02)
        rates.refusedCommit = draw(0.02)
        rates.refusedRecord = draw(0.002)
        rates.fatalDelivery = draw(0.001)
        rates.fullQueue = draw(0.0003)
        rates.earlyDelivery = draw(0.05)
        rates.lostEnd = draw(0.01)
        rates.lateEnd = draw(0.01)
        rates.lostEndAnswer = draw(0.01)
        rates.interruptedPoll = draw(0.1)
        rates.interruptedThought = draw(0.2)
        rates.closeInVain = draw(0.1)
        rates.slowMarker = draw(0.05)
        rates.crash = draw(0.0015)
        rates.stop = draw(0.0005)
        rates.freezeThread = draw(0.001)
        rates.freezeProcess = draw(0.001)
        rates.freezeInHand = draw(0.003)
        rates.outage = draw(0.0002)
        rates.rebalance = draw(0.0005)
        rates.clean = draw(0.005)
        rates.expire = draw(0.005)
        longestStretch = scheduler.random.pick([4, 12, 25])
        largestPoll = scheduler.random.pick([1, 3, 20, 10_000])
        fetchChance = scheduler.random.pick([0.3, 0.7, 1])
    }

    /// Lets nothing go wrong any more; what is no fault goes on.
    func cease() {
        let before = rates
        rates = Rates()
        rates.earlyDelivery = before.earlyDelivery
        rates.interruptedPoll = before.interruptedPoll
        rates.interruptedThought = before.interruptedThought
        rates.clean = before.clean
        rates.expire = before.expire
        longestStretch = 4
    }

    func happens(_ rate: KeyPath<Rates, Double>) -> Bool {
        let probability = rates[keyPath: rate]
        return probability > 0 && scheduler.random.chance(probability)
    }

    func stretch() -> Int { scheduler.random.number(1...longestStretch) }
    func pollSize() -> Int { scheduler.random.number(1...largestPoll) }
    func fetches() -> Bool { scheduler.random.chance(fetchChance) }
    func pause(upTo limit: Duration) -> Duration { limit * scheduler.random.unit() }

    func markerDelay() -> Duration {
        pause(upTo: happens(\.slowMarker) ? .seconds(5) : scheduler.random.pick([.zero, .milliseconds(30)]))
    }
}
