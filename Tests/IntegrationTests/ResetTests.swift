import Foundation
import Testing
import TidemarkWorkload

extension ProgramTests {
    /// `tidemark reset`: what was published is withdrawn, and the application begins anew.
    @Suite struct ResetTests {
        @Test("after a reset, other settings give the rows and opens of a fresh application")
        func beginsAnew() throws {
            let application = try TestApplication("reset")
            try application.createTopics()
            let workload = Workload.small(users: 120, seed: 31)
            try StreamFeeder(topic: application.input).feed(workload.records())
            let first = try ExpectedReport(workload)
            let report = try PublishedReport(application)

            let process = try application.start(instance: "a")
            try first.wait(for: report)
            let refused = try application.command(["reset", "--yes"])
            #expect(refused.status == 1)
            #expect(refused.log.contains("is running"), "\(refused.log)")
            #expect(try process.stop().status == 0)

            let looked = try application.command(["reset"])
            #expect(looked.status == 0, "\(looked.log)")
            #expect(String(decoding: looked.output, as: UTF8.self).contains("would withdraw"))
            try report.update()
            #expect(report.lines == first.rows)

            let done = try application.command(["reset", "--yes"])
            #expect(done.status == 0, "\(done.log)")
            try eventually(within: 20, "everything is withdrawn") {
                try report.update()
                return report.lines.isEmpty
            }

            var settings = PlainSettings()
            settings.fixed = 7_200
            let second = try ExpectedReport(workload, settings: settings)
            #expect(second.rows != first.rows)
            let again = try application.start(instance: "a", ["attribution.window.fixed=2h"])
            try second.wait(for: report)
            #expect(try again.stop().status == 0)
        }
    }
}
