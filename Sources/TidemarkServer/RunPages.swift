public import TidemarkProcessor

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The pages of a running processor: `/metrics`, `/livez` and `/readyz`. They read copies of its figures and nothing else.
public struct RunPages: Sendable {
    private let build: BuildFigures
    private let status: @Sendable () -> RunStatus

    /// - Parameters:
    ///   - build: the versions.
    ///   - status: gives a copy of the figures as they are now; called once for each request.
    public init(build: BuildFigures, status: @escaping @Sendable () -> RunStatus) {
        self.build = build
        self.status = status
    }

    /// The answer for a path; `nil` where there is no such page.
    public func answer(_ path: String) -> HTTPAnswer? {
        switch path {
        case "/metrics":
            let text = RunMetrics(status(), now: RunPages.now()).text(build: build, process: .current())
            return HTTPAnswer(status: 200, contentType: MetricsText.contentType, body: text)
        case "/livez": return Health.liveness(status()).answer
        case "/readyz": return Health.readiness(status()).answer
        case "/": return HTTPAnswer(status: 200, body: "/metrics\n/livez\n/readyz\n")
        default: return nil
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
