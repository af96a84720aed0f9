import Synchronization

@testable import tidemark

/// Takes what a command writes.
final class Recorder: Sendable {
    private let texts = Mutex((output: "", notes: [String]()))

    var console: Console {
        Console(
            output: { text in self.texts.withLock { $0.output += text } },
            note: { line in self.texts.withLock { $0.notes.append(line) } })
    }

    var output: String { texts.withLock { $0.output } }
    var notes: [String] { texts.withLock { $0.notes } }
}

/// What a command line did.
struct Outcome: Equatable {
    let code: Int32
    let output: String
    let notes: [String]
}

/// Runs a command line, as typed, in this process.
func run(_ line: String, table: CommandTable = .tidemark) -> Outcome {
    run(words: line.split(separator: " ").map(String.init), table: table)
}

/// Runs a command line whose words may hold spaces.
func run(words: [String], table: CommandTable = .tidemark) -> Outcome {
    let recorder = Recorder()
    let code = table.run(words, console: recorder.console)
    return Outcome(code: code, output: recorder.output, notes: recorder.notes)
}
