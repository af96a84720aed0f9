import Foundation

/// What is known of the terminal behind a stream.
struct Terminal: Sendable {
    /// Whether a person watches; files, pipes and logs are no terminals.
    let isInteractive: Bool
    /// Columns.
    let width: Int

    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    static let standardError = Terminal(descriptor: STDERR_FILENO)

    init(isInteractive: Bool, width: Int) {
        self.isInteractive = isInteractive
        self.width = width
    }

    init(descriptor: Int32) {
        isInteractive = isatty(descriptor) == 1
        var size = winsize()
        let isKnown = isInteractive && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? Int(size.ws_col) : Terminal.usualWidth
    }

    /// Tables and help fit this many columns.
    static let usualWidth = 100
}
