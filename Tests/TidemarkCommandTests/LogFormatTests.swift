import Foundation
import Testing
import TidemarkProcessor

@testable import tidemark

@Suite("Log lines of run")
struct LogFormatTests {
    private let time = Date(timeIntervalSince1970: 1_767_323_045.625)

    private func render(_ format: LogFormat, _ line: LogLine) -> String {
        format.render(line, time: time)
    }

    @Test func textIsTheMessageAlone() {
        #expect(render(.text, LogLine("3 records", level: .error, application: "app", loop: "worker-0")) == "3 records")
    }

    @Test func pairsAreQuotedWhereTheyMustBe() {
        #expect(
            render(.logfmt, LogLine("ready", application: "app"))
                == "time=2026-01-02T03:04:05.625Z level=info application=app message=ready")
        let line = LogLine(
            "a \"b\" \\ c\nd\u{1}\u{85}é", level: .warning, application: "app", instance: "host-0", loop: "worker-1",
            partition: 7)
        #expect(
            render(.logfmt, line)
                == "time=2026-01-02T03:04:05.625Z level=warn application=app instance=host-0 worker=worker-1 partition=7 "
                + "message=\"a \\\"b\\\" \\\\ c\\nd\\u0001\\u0085é\"")
        #expect(render(.logfmt, LogLine("", application: "app")).hasSuffix(" message=\"\""))
        #expect(render(.logfmt, LogLine("a=b", application: "app")).hasSuffix(" message=\"a=b\""))
    }

    @Test func jsonReadsBack() throws {
        let message = "a \"b\" \\ c\n\t\r\u{0}\u{7f}\u{2028}é☃"
        let line = LogLine(
            message, level: .error, application: "app", instance: "host-0", loop: "aggregator", partition: 12)
        let text = render(.json, line)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x2028 })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["partition"] as? Int == 12)
        #expect(
            object.compactMapValues { $0 as? String } == [
                "time": "2026-01-02T03:04:05.625Z", "level": "error", "application": "app", "instance": "host-0",
                "worker": "aggregator", "message": message,
            ])
    }

    @Test func theUsualFormatFollowsWhoReads() {
        #expect(LogFormat.usual(Terminal(isInteractive: true, width: 80)) == .text)
        #expect(LogFormat.usual(Terminal(isInteractive: false, width: 80)) == .logfmt)
    }

    @Test func anUnknownFormatIsWrongUsage() {
        let outcome = run("run --log-format xml")
        #expect(outcome.code == ExitCode.wrongUsage)
        #expect(outcome.notes.first == "tidemark: `--log-format` takes one of `text`, `logfmt`, `json`, not `xml`")
    }
}
