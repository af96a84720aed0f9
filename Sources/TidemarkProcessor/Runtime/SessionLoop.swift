package import TidemarkKafka

/// Runs the sessions of a worker or an aggregator one after the other until the process stops.
///
/// A session ends early by `Restart` or by an error of the client. The next one restores from what is committed, after a pause that
/// grows while sessions keep failing. What a new session cannot mend is thrown.
struct SessionLoop {
    /// A session that lasted this long was sound: what ended it is no sign that the next one fails, too.
    private static let soundDuration = Duration.seconds(60)
    private static let longestPause = Duration.seconds(30)

    /// Names the worker or aggregator in the log.
    let name: String
    let context: RunContext

    /// Calls `session` until the process stops.
    func run(_ session: () throws -> Void) throws {
        let control = context.control
        var pause = Duration.seconds(1)
        while !control.isStopping {
            let start = control.now
            do {
                try session()
            } catch is Stopped {
                return
            } catch let error where SessionLoop.canStartOver(after: error) {
                guard !control.isStopping else {
                    return context.log("\(name) stopped without a last commit: \(error)", level: .warning)
                }
                if start.duration(to: control.now) >= SessionLoop.soundDuration { pause = .seconds(1) }
                context.log("\(name) starts over: \(error)", level: .warning)
                control.update { $0.restarts += 1 }
                context.beat(waiting: pause)
                control.sleep(pause)
                pause = min(pause * 2, SessionLoop.longestPause)
            }
        }
    }

    private static func canStartOver(after error: any Error) -> Bool {
        if error is Restart { return true }
        return (error as? KafkaError).map { !$0.isLasting } ?? false
    }
}

extension KafkaError {
    /// Whether the same will happen again until somebody changes settings, permissions or topics.
    package var isLasting: Bool {
        switch code {
        case .topicAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
            .transactionalIDAuthorizationFailed, .invalidArgument, .invalidTopic, .unknownTopic,
            .unknownTopicOrPartition:
            true
        // Not `unknownPartition`: the client says so for a moment, too, while a broker that comes back knows only some of them.
        default: false
        }
    }
}

extension ConsumerClient {
    /// Offsets committed by the group, once no transaction that commits some is being decided any more.
    ///
    /// Asked for in short calls, because stopping must not wait for a transaction that a killed process left open.
    func decidedOffsets(
        _ partitions: [TopicPartition], context: RunContext
    ) throws -> [TopicPartition: Int64] {
        let control = context.control
        for attempt in 0... {
            context.beat()
            do throws(KafkaError) {
                return try committed(partitions, timeoutMilliseconds: 2_000)
            } catch {
                guard !error.isLasting, attempt < 30 else { throw error }
            }
            if control.isStopping { throw Stopped() }
            control.sleep(.milliseconds(100))
        }
        preconditionFailure("the loop ends by itself")
    }
}
