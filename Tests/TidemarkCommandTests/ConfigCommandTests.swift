import Foundation
import Testing

@testable import tidemark

@Suite("tidemark config")
struct ConfigCommandTests {
    /// Runs `body` with a file of that text, which is removed afterwards.
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID().uuidString).yaml")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }

    @Test func checkNamesTheGoodFile() throws {
        try withFile("workers: 2\n") { file in
            #expect(run("config check -c \(file)") == Outcome(code: 0, output: "OK \(file)\n", notes: []))
        }
    }

    @Test func checkTellsEveryProblem() throws {
        try withFile("wrokers: 2\ncommit_interval: 1\n") { file in
            let notes = [
                "tidemark: \(file):1: unknown key `wrokers`; did you mean `workers`?",
                "tidemark: \(file):2: `commit_interval` `1` has no unit; "
                    + "write a duration from 10ms to 1m, for example 500ms or 2s",
                "tidemark: --set workers: `workers` `x` is not a whole number; "
                    + "write a whole number from 1 to 1024, or `auto`",
            ]
            let outcome = run("config check --config=\(file) --set workers=x")
            #expect(outcome == Outcome(code: ExitCode.failed, output: "", notes: notes))
        }
    }

    @Test func checkRefusesAMissingFile() {
        let outcome = run("config check -c /no/such.yaml")
        #expect(outcome == Outcome(code: 1, output: "", notes: ["tidemark: /no/such.yaml: no such file"]))
    }

    @Test func showPrintsLayersAndHidesSecrets() throws {
        try withFile("kafka: {sasl.password: hunter2}\n") { file in
            let outcome = run("config show -c \(file) --set workers=3 --set input.topics=a,b")
            #expect(outcome.code == ExitCode.done)
            #expect(outcome.output.contains("\nworkers: 3  # --set workers\n"))
            #expect(outcome.output.contains("\n  topics: [a, b]  # --set input.topics\n"))
            #expect(outcome.output.contains("\n  sasl.password: \"*****\"  # \(file):1\n"))
            #expect(!outcome.output.contains("hunter2"))
        }
    }

    @Test func showPrintsTheReference() {
        let outcome = run("config show --reference")
        #expect(outcome.code == ExitCode.done)
        #expect(outcome.output.contains("\n    fixed: 30m\n"))
    }
}
