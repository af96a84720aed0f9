import TidemarkAttribution
import TidemarkConfiguration
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit

@testable import TidemarkWorkload

/// What a seed runs: sizes, settings and times.
struct Scenario {
    let configuration: Configuration
    let settings: PlainSettings
    let inputPartitions: Int
    let reportPartitions: Int
    let openPartitions: Int
    let instances: [String]
    private let workers: Int
    /// Whether processes keep states of partitions that they do not have.
    let hasStandby: Bool
    /// Bytes that users take who are not packed, in all tasks.
    let unpackedBytes: Int
    /// Of each process.
    var workerCount: Int { min(workers, inputPartitions) }
    /// Whether events may be refused as late.
    let isLatenessLimited: Bool
    let events: [SampleEvent]
    /// How long input comes in.
    let duration: Duration

    init(_ random: inout SplitMix64) {
        inputPartitions = random.number(1...4)
        reportPartitions = random.number(1...3)
        openPartitions = random.number(1...2)
        instances = Array(["a", "b", "c"].prefix(random.number(1...3)))
        workers = random.number(1...2)
        hasStandby = random.chance(0.4)
        unpackedBytes = random.pick([0, 8_000, 128 << 20])
        isLatenessLimited = random.chance(0.4)
        duration = .seconds(random.pick([2, 10, 30]))
        let lateness = random.pick([3_600, 86_400, 5 * 86_400])
        var streams = [EdgeStream(seed: random.next(), events: random.number(5...60))]
        if isLatenessLimited {
            streams = [EdgeStream(seed: random.next(), events: random.number(20...100), maxDelay: lateness * 3 / 2)]
        } else {
            for _ in 0..<random.number(0...2) {
                streams.append(
                    EdgeStream(seed: random.next(), events: random.number(5...30), settings: streams[0].settings))
            }
        }
        settings = streams[0].settings
        events = Scenario.mixed(streams, &random)
        configuration = Scenario.configure(
            settings, lateness: isLatenessLimited ? Int64(lateness) : nil, topics: random.number(1...2), &random)
    }

    /// One stream of several, each with users of its own.
    private static func mixed(_ streams: [EdgeStream], _ random: inout SplitMix64) -> [SampleEvent] {
        var rests = streams.enumerated().map { number, stream in
            stream.events.map { event in
                var event = event
                event.userID = "\(number)\(event.userID)"
                return event
            }[...]
        }
        var mixed: [SampleEvent] = []
        while let place = random.pickPlace(where: { !rests[$0].isEmpty }, of: rests.count) {
            mixed.append(rests[place].removeFirst())
        }
        return mixed
    }

    private static func configure(
        _ settings: PlainSettings, lateness: Int64?, topics: Int, _ random: inout SplitMix64
    ) -> Configuration {
        var configuration = Configuration()
        configuration.applicationID = "sim"
        configuration.input.topics = (0..<topics).map { "events-\($0)" }
        configuration.attribution = AttributionRules(settings)
        configuration.attribution.allowedLateness = lateness
        configuration.attribution.futureTolerance = 3_600
        configuration.report.timeZone = settings.timeZone
        configuration.report.uniqueRetention = Int64(settings.uniqueRetention)
        if random.chance(0.5) { configuration.limits.memory = 1 << 20 }
        configuration.commitInterval = .milliseconds(random.pick([10, 150, 1_000, 3_000]))
        configuration.kafka["session.timeout.ms"] = "6000"
        configuration.kafka["transaction.timeout.ms"] = random.pick(["1500", "5000"])
        configuration.kafka["max.poll.interval.ms"] = random.pick(["8000", "20000"])
        return configuration
    }
}

extension SplitMix64 {
    /// One of the places below a bound that fit; `nil` where none does.
    fileprivate mutating func pickPlace(where fits: (Int) -> Bool, of count: Int) -> Int? {
        let places = (0..<count).filter(fits)
        return places.isEmpty ? nil : pick(places)
    }
}
