import Foundation
import Testing
import TidemarkWorkload

/// What streams for soak and skew are like.
@Suite("Turnover, many campaigns, hot campaigns")
struct LoadShapeTests {
    /// The events of a stream as an observer of the stream sees them.
    private func events(_ options: WorkloadOptions) throws -> [SampleEvent] {
        var stream = Workload(options).stream()
        var record = WorkloadRecord()
        var events: [SampleEvent] = []
        while stream.next(into: &record) {
            let object = try JSONSerialization.jsonObject(with: Data(record.json)) as? [String: Any] ?? [:]
            events.append(try #require(SampleEvent(flat: object, eventType: record.eventType)))
        }
        return events
    }

    private func lives(_ events: [SampleEvent]) -> [String: ClosedRange<Int>] {
        Dictionary(grouping: events, by: \.userID).mapValues { events in
            (events.map(\.time).min() ?? 0)...(events.map(\.time).max() ?? 0)
        }
    }

    @Test("Without turnover and hot campaign, streams are those of earlier versions, byte by byte")
    func unchanged() throws {
        let workload = Workload(
            WorkloadOptions(users: 60, days: 5, campaigns: 12, seed: 7, lateShare: 0.05, namesTypeInRecord: true))
        var stream = workload.stream()
        var record = WorkloadRecord()
        var lines: [UInt8] = []
        while stream.next(into: &record) { lines += record.json + [UInt8(ascii: "\n")] }
        #expect(lines.fnv == 0xA78C_7E73_22C5_52AE)
        #expect(try workload.truth(settings: PlainSettings()).evaluation.truth().fnv == 0x91AC_6968_3C5F_8287)
    }

    @Test("Each week the given share of users leaves for good, and as many new ones come")
    func turnover() throws {
        let options = WorkloadOptions(users: 400, days: 70, seed: 11, intensity: 3, turnover: 0.1)
        let events = try events(options)
        let ends = lives(events)
        let week = 7 * 86_400
        func active(_ number: Int) -> Set<String> {
            let span = (options.start + number * week)..<(options.start + (number + 1) * week)
            return Set(events.filter { span.contains($0.time) }.map(\.userID))
        }
        let weeks = (0..<10).map(active)
        for (earlier, later) in zip(weeks, weeks.dropFirst()) {
            let new = Double(later.subtracting(earlier).count) / 400
            #expect(new > 0.05 && new < 0.17, "\(new) new in a week")
            #expect(later.count > 380 && later.count < 450, "\(later.count) users in a week")
        }
        // Of 100 % at the start, 0.9^10 are left at the end; who is gone has not come back.
        let left = Double(weeks[0].intersection(weeks[9]).count) / Double(weeks[0].count)
        #expect(abs(left - 0.37) < 0.08, "\(left) of the first week are there in the last")
        #expect(abs(Double(ends.count) / 400 - 2) < 0.2, "\(ends.count) users ever")
        #expect(try self.events(options) == events)
    }

    @Test("The users of a place follow one another: none has an event once the next has come, and each begins anew")
    func succession() throws {
        let workload = Workload(WorkloadOptions(users: 40, days: 120, seed: 12, turnover: 0.3))
        var successions = 0
        for place in 0..<40 {
            let users = workload.events(ofPlace: place)
            let lives = users.map { Self.life($0) }
            // A clock that is ahead may be so by 45 s.
            for (one, next) in zip(lives, lives.dropFirst()) {
                #expect(one.upperBound <= next.lowerBound + 45)
                successions += 1
            }
            for user in users.dropFirst() {
                #expect(user.contains { $0.eventType == "users.behaviors.app.FirstSession" })
            }
        }
        #expect(successions > 100)
    }

    private static func life(_ events: [SampleEvent]) -> ClosedRange<Int> {
        // Devices with a wrong clock may be 15 minutes behind.
        let times = events.filter { $0.eventType != "users.messages.pushnotification.Open" }.map(\.time)
        return (times.min() ?? 0)...(times.max() ?? 0)
    }

    @Test("The truth of a stream with turnover is the evaluation of its records")
    func truthOfTurnover() throws {
        let options = WorkloadOptions(users: 50, days: 60, seed: 13, turnover: 0.25, hotCampaignShare: 0.5)
        let truth = try Workload(options).truth(settings: PlainSettings())
        let events = try events(options)
        var evaluation = try PlainEvaluation(settings: PlainSettings())
        evaluation.add(events)
        #expect(truth.evaluation.truth() == evaluation.truth())
        #expect(truth.records == events.count)
    }

    @Test("The hot campaign has its share of the pushes", arguments: [0.5, 0.9, 1])
    func hotCampaign(share: Double) throws {
        let options = WorkloadOptions(users: 300, days: 7, campaigns: 50, seed: 14, hotCampaignShare: share)
        let sends = try events(options).filter { $0.eventType == "users.messages.pushnotification.Send" }
        let counts = Dictionary(grouping: sends, by: \.campaignID).mapValues(\.count)
        let measured = Double(counts.filter { $0.key != nil }.values.max() ?? 0) / Double(sends.count)
        #expect(abs(measured - share) < 0.04, "\(measured) of the pushes")
        #expect(counts.count > 20 || share > 0.9)
    }

    @Test("Ten thousand campaigns are ten thousand ids, and no more")
    func manyCampaigns() throws {
        let options = WorkloadOptions(users: 4_000, days: 14, campaigns: 20_000, seed: 15, intensity: 2)
        #expect(options.campaigns == 10_000)
        let events = try events(options)
        let pushes = Set(
            events.filter { $0.eventType == "users.messages.pushnotification.Send" && $0.canvasID == nil }.compactMap(
                \.campaignID))
        #expect(pushes.count > 9_800 && pushes.count <= 10_000, "\(pushes.count) campaigns")
        let canvases = Set(events.compactMap(\.canvasID))
        #expect(canvases.count > 1_500 && canvases.count <= 2_500, "\(canvases.count) canvases")
        #expect(pushes.count + canvases.count == pushes.union(canvases).count)
    }
}

extension [UInt8] {
    /// The 64-bit FNV-1a hash.
    fileprivate var fnv: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }
}
