import Foundation

@testable import TidemarkWorkload

/// What goes on between the steps of threads.
protocol World: AnyObject {
    /// Does what has become due, and lets things go wrong.
    func serve()
    /// When something becomes due next.
    var nextEvent: Duration? { get }
}

/// Runs the threads of a simulation one at a time, in an order that the seed decides, on a clock of its own.
///
/// Exactly one thread has the baton. At each step it chooses who goes on, and hands the baton over. Time passes a little with each step, and
/// jumps when all threads wait.
///
/// Unchecked: everything of a simulation is touched only by the thread that has the baton, and handing it over orders memory.
final class Scheduler: @unchecked Sendable {
    /// Since the start of the simulation.
    private(set) var now = Duration.zero
    var random: SplitMix64
    let trace: Trace
    unowned var world: any World
    private(set) var current: SimulatedThread
    private(set) var steps = 0
    /// Whether the current thread is at a step, and neither waits nor has ended.
    private(set) var isInStep = false
    private var threads: [SimulatedThread] = []
    /// How likely a thread goes on by itself after a step.
    private let stickiness: Double
    /// What a step takes at most.
    private let pace: Duration

    init(random: SplitMix64, trace: Trace, world: any World) {
        self.random = random
        self.trace = trace
        self.world = world
        current = SimulatedThread("simulation", of: nil)
        stickiness = self.random.pick([0, 0.3, 0.8])
        pace = self.random.pick([.microseconds(200), .milliseconds(1), .milliseconds(4)])
        threads = [current]
    }

    /// Starts a thread.
    func spawn(_ name: String, of process: SimulatedProcess, _ body: @escaping @Sendable () -> Void) {
        let thread = SimulatedThread(name, of: process)
        threads.append(thread)
        let system = Thread { [self] in
            thread.baton.wait()
            body()
            end(thread)
        }
        // Where a thread traps, its name tells the seed.
        system.name = "seed \(trace.seed)"
        system.stackSize = 2 << 20
        system.start()
    }

    private func end(_ thread: SimulatedThread) {
        threads.removeAll { $0 === thread }
        isInStep = false
        let next = choose()
        current = next
        next.baton.signal()
    }

    /// The threads that have not ended.
    func threads(of process: SimulatedProcess) -> [SimulatedThread] { threads.filter { $0.process === process } }

    // MARK: Steps

    /// A point at which other threads may go on and things may go wrong.
    func step(_ what: StaticString) {
        guard !current.isGone else { return }
        steps += 1
        isInStep = true
        now += pace * random.unit()
        trace.note(what, current.name, now)
        handOver()
    }

    /// Waits until a time, or until something is so.
    func wait(_ what: StaticString, until deadline: Duration, orWhen isReady: (() -> Bool)? = nil) {
        guard !current.isGone else { return }
        steps += 1
        isInStep = false
        trace.note(what, current.name, now)
        current.deadline = deadline
        current.isReady = isReady
        handOver()
    }

    private func handOver() {
        let thread = current
        let next = choose()
        guard next !== thread else { return }
        current = next
        next.baton.signal()
        thread.baton.wait()
    }

    private func choose() -> SimulatedThread {
        while true {
            world.serve()
            let candidates = threads.filter { $0.canRun(at: now) }
            if let chosen = choose(among: candidates) {
                chosen.deadline = nil
                chosen.isReady = nil
                return chosen
            }
            jump()
        }
    }

    private func choose(among candidates: [SimulatedThread]) -> SimulatedThread? {
        if candidates.count < 2 { return candidates.first }
        // What is left of killed processes goes first, so that nobody finds half of it.
        if let gone = candidates.first(where: \.isGone) { return gone }
        if random.chance(stickiness), let same = candidates.first(where: { $0 === current }) { return same }
        return random.pick(candidates)
    }

    /// Goes on to when the next thread can run or the next event is due.
    private func jump() {
        let wakings = threads.map { $0.thaw > now ? $0.thaw : $0.deadline ?? .zero }
        let next = (wakings + [world.nextEvent].compactMap { $0 }).filter { $0 > now }.min()
        guard let next else { fatalError("seed \(trace.seed): nothing can happen any more\n\(trace.text)") }
        now = next
    }
}
