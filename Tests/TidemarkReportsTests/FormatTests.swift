import Testing
import TidemarkAttribution
import TidemarkReports

@Suite("Report formats")
struct FormatTests {
    @Test("CSV: one header for all channels, quotes where needed, lines ended by CR LF")
    func csv() {
        let sample = SampleReport()
        sample.name("c-1", "Say \"hi\", twice")
        sample.add("c-1", ["sends": 3, "bounces": 1], buttons: ["Yes": 2])
        sample.add("c-1", channel: .banner, day: "2026-11-30", ["impressions": 7])
        let lines = sample.text(.csv).split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[3].isEmpty)
        let header = lines[0].split(separator: ",").map(String.init)
        #expect(header.count == 18 + 33)
        #expect(Set(header).count == header.count)
        #expect(
            lines[1].hasPrefix(
                #"campaign_day,banner,c-1,,,,,,2026-11-30,UTC,"Say ""hi"", twice",,,,,last_push,longer,1,"#))
        #expect(
            lines[2].hasPrefix(
                #"campaign_total,push,c-1,,,,,,,,"Say ""hi"", twice",,,,,last_push,longer,1,3,1,2,0,0,0,0,"{""Yes"":2}","#
            ))
        let impressions = header.firstIndex(of: "impressions") ?? 0
        // Behind the name with its comma, places are one further.
        #expect(lines[1].split(separator: ",", omittingEmptySubsequences: false)[impressions + 1] == "7")
        #expect(lines[2].split(separator: ",", omittingEmptySubsequences: false)[impressions + 1].isEmpty)
    }

    @Test("JSON is an array of the very records of NDJSON")
    func json() {
        let sample = SampleReport()
        #expect(sample.text(.json) == "[]\n")
        sample.add("c-1", ["sends": 3])
        sample.add("c-2", ["sends": 4])
        let records = sample.text(.ndjson).split(separator: "\n")
        #expect(records.count == 2)
        #expect(sample.text(.json) == "[\n" + records.joined(separator: ",\n") + "\n]\n")
        var writer = JSONWriter()
        sample.report.writeLines(to: &writer)
        #expect(sample.text(.ndjson) == String(decoding: writer.bytes, as: UTF8.self))
    }

    @Test(
        "Campaigns are chosen by name or id, with any case and stars",
        arguments: [
            ("welcome", 1), ("WEL*", 1), ("*e*", 2), ("c-2", 1), ("c-*", 2), ("*", 2), ("elcome", 0), ("c-1x", 0),
        ])
    func campaigns(pattern: String, count: Int) {
        let sample = SampleReport()
        sample.name("c-1", "Welcome")
        sample.name("c-2", "Sale of the week")
        sample.add("c-1", ["sends": 3])
        sample.add("c-2", ["sends": 3])
        #expect(sample.text(.ndjson) { $0.campaign = pattern }.split(separator: "\n").count == count)
    }

    @Test("A choice of days leaves day rows; a table by campaign then adds them up")
    func days() {
        let sample = SampleReport()
        for day in ["2026-11-28", "2026-11-29", "2026-11-30"] { sample.add("c-1", day: day, ["sends": 5]) }
        sample.add("c-1", ["sends": 15])
        func choose(_ filter: inout RowFilter) {
            filter.days = DayTable.day(iso: "2026-11-29").flatMap { first in
                DayTable.day(iso: "2026-11-30").map { first...$0 }
            }
        }
        #expect(sample.text(.ndjson, filter: choose).split(separator: "\n").count == 2)
        let line = sample.text(filter: choose).split(separator: "\n").last ?? ""
        #expect(line.hasPrefix("c-1          10 "))
    }

    @Test("Days are read as calendars have them")
    func calendarDays() {
        #expect(DayTable.day(iso: "1970-01-01") == 0)
        #expect(DayTable.day(iso: "2024-02-29") == 19_782)
        #expect(DayTable.day(iso: "2000-03-01") == 11_017)
        for wrong in ["2026-02-29", "2026-13-01", "2026-1-01", "2026-00-10", "26-01-01", "2026-01-0x", "", "2026-01"] {
            #expect(DayTable.day(iso: wrong) == nil, "\(wrong)")
        }
        for day in stride(from: Int32(-1_000), to: 30_000, by: 7) {
            var json = JSONWriter()
            json.day(day)
            #expect(DayTable.day(iso: String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)) == day)
        }
    }
}
