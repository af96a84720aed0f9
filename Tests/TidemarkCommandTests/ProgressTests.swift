import Synchronization
import Testing

@testable import tidemark

@Suite("Progress line")
struct ProgressTests {
    /// A clock moved by hand, and the text written.
    private final class Screen: Sendable {
        private let state = Mutex((time: Duration.zero, text: ""))

        var text: String { state.withLock { $0.text } }
        func advance(_ time: Duration) { state.withLock { $0.time += time } }

        func line(width: Int? = nil, isQuiet: Bool = false) -> ProgressLine {
            ProgressLine(
                isQuiet: isQuiet, terminal: Terminal(isInteractive: width != nil, width: width ?? 100),
                now: { self.state.withLock { $0.time } },
                write: { text in self.state.withLock { $0.text += text } })
        }
    }

    private let screen = Screen()
    private let erase = "\r\u{1B}[2K"

    @Test func redrawsTenTimesASecondOnATerminal() {
        let line = screen.line(width: 80)
        for count in 0..<25 {
            line.update("\(count)")
            screen.advance(.milliseconds(20))
        }
        line.finish("done")
        let shown = ["0", "5", "10", "15", "20", "done"].map { erase + $0 }.joined()
        #expect(screen.text == shown + "\n")
    }

    @Test func writesALineEveryFiveSecondsElsewhere() {
        let line = screen.line()
        for count in 0..<12 {
            line.update("\(count)")
            screen.advance(.seconds(1))
        }
        line.finish("done")
        #expect(screen.text == "0\n5\n10\ndone\n")
    }

    @Test func quietShowsNotesOnly() {
        let line = screen.line(width: 80, isQuiet: true)
        line.update("never")
        line.note("careful")
        line.finish("never")
        #expect(screen.text == "careful\n")
    }

    @Test func textIsCutAtTheEdge() {
        screen.line(width: 10).update("0123456789abc")
        #expect(screen.text == erase + "012345678")
    }

    @Test func notesStayAboveTheProgress() {
        let line = screen.line(width: 80)
        line.note("first")
        line.update("50 %")
        line.note("second")
        line.clear()
        line.note("third")
        #expect(screen.text == "first\n\(erase)50 %\(erase)second\n50 %\(erase)third\n")
    }

    @Test func filesAreNoTerminals() {
        let terminal = Terminal(descriptor: -1)
        #expect(!terminal.isInteractive)
        #expect(terminal.width == 100)
    }
}
