import Synchronization

/// Tells how far work has come, without flooding anyone: a line redrawn in place at most ten times a second on a
/// terminal, a plain line every five seconds elsewhere, nothing when asked to be quiet.
final class ProgressLine: Sendable {
    private struct State {
        var lastShown: Duration?
        /// The text that stands on the terminal's last line.
        var visible: String?
    }

    private let terminal: Terminal
    private let isQuiet: Bool
    private let interval: Duration
    private let now: @Sendable () -> Duration
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - isQuiet: whether to show nothing but notes.
    ///   - terminal: what stands behind standard error.
    ///   - now: time since any fixed moment.
    ///   - write: takes the text to be written.
    init(
        isQuiet: Bool, terminal: Terminal = .standardError, now: @escaping @Sendable () -> Duration = monotonicTime,
        write: @escaping @Sendable (String) -> Void = { writeAll($0, to: 2) }
    ) {
        self.isQuiet = isQuiet
        self.terminal = terminal
        self.interval = terminal.isInteractive ? .milliseconds(100) : .seconds(5)
        self.now = now
        self.write = write
    }

    /// Shows the text if enough time has passed since the last one; otherwise it is not even made.
    func update(_ text: @autoclosure () -> String) {
        if isQuiet { return }
        state.withLock { state in
            let time = now()
            if let last = state.lastShown, time - last < interval { return }
            state.lastShown = time
            show(text(), &state)
        }
    }

    /// Writes a line that stays, above the progress.
    func note(_ line: String) {
        state.withLock { state in
            guard let visible = state.visible else { return write(line + "\n") }
            write("\r\u{1B}[2K" + line + "\n" + visible)
        }
    }

    /// Ends the progress with a last text, which stays.
    func finish(_ text: String) {
        if isQuiet { return }
        state.withLock { state in
            show(text, &state)
            if terminal.isInteractive { write("\n") }
            state.visible = nil
        }
    }

    /// Ends the progress; what is shown on a terminal goes away.
    func clear() {
        state.withLock { state in
            if state.visible != nil { write("\r\u{1B}[2K") }
            state.visible = nil
        }
    }

    private func show(_ text: String, _ state: inout State) {
        guard terminal.isInteractive else { return write(text + "\n") }
        // A text that reached the edge would wrap, and the next one could not replace it.
        let fitting = String(text.prefix(max(1, terminal.width - 1)))
        state.visible = fitting
        write("\r\u{1B}[2K" + fitting)
    }
}

/// Time since an arbitrary moment in this process; never goes back.
@Sendable func monotonicTime() -> Duration { monotonicStart.duration(to: ContinuousClock.now) }

private let monotonicStart = ContinuousClock.now
