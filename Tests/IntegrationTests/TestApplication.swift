import Foundation
import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor

/// An application with names of its own, its topics, and the processes that run it.
final class TestApplication {
    /// `application_id`, and the first part of all topic names.
    let id: String
    /// The names of its topics and groups.
    let topics: ApplicationTopics
    let partitions: Int
    let configurationFile: URL

    /// Names an application and writes its configuration.
    /// - Parameters:
    ///   - name: says what it is for.
    ///   - settings: further lines of YAML, at the outermost level.
    ///   - inputs: names of the input topics, without the application's.
    ///   - reading: another application, whose input topics are this one's, too.
    ///   - replicas: of each topic that the program makes.
    ///   - sessionTimeout: how long Kafka waits for a killed member, milliseconds; brokers take 6 s and more.
    init(
        _ name: String, partitions: Int = 4, settings: String = "", inputs: [String] = ["events"],
        reading: TestApplication? = nil, replicas: Int = 1,
        sessionTimeout: Int = 6_000, commitInterval: String = "150ms"
    ) throws {
        id = "it-\(name)-\(UUID().uuidString.lowercased().prefix(8))"
        self.partitions = partitions
        let id = id
        configurationFile = FileManager.default.temporaryDirectory.appendingPathComponent("\(id).yaml")
        let yaml = """
            application_id: \(id)
            kafka:
              bootstrap.servers: \(Environment.servers ?? "")
              session.timeout.ms: \(sessionTimeout)
              transaction.timeout.ms: 5000
            input:
              topics: [\((reading?.topics.inputs ?? inputs.map { "\(id).\($0)" }).joined(separator: ", "))]
            output:
              reports: \(id).reports
              opens: \(id).opens
              dead_letters: \(id).dead
            commit_interval: \(commitInterval)
            workers: 2
            topics:
              partitions: \(partitions)
              report_partitions: 2
              replication_factor: \(replicas)
            \(settings)

            """
        try Data(yaml.utf8).write(to: configurationFile)
        topics = ApplicationTopics(
            try Configuration.load(file: configurationFile.path, environment: [:], overrides: []))
    }

    deinit { try? FileManager.default.removeItem(at: configurationFile) }

    var input: String { topics.inputs[0] }

    /// Runs a command of the program to its end; the configuration is added.
    func command(_ arguments: [String], within seconds: Double = 60) throws -> TidemarkProcess.Ending {
        try TidemarkProcess(arguments + ["-c", configurationFile.path]).waitForEnd(within: seconds)
    }

    /// Creates its topics through the program.
    func createTopics() throws {
        let ending = try command(["topics", "create"])
        guard ending.status == 0 else {
            throw TestFailure("topics create: \(String(decoding: ending.output, as: UTF8.self))\(ending.log)")
        }
    }

    /// Starts a process of the application.
    /// - Parameters:
    ///   - instance: name of the process; `nil` lets it choose a free slot.
    ///   - settings: as `key=value`.
    func start(instance: String? = nil, _ settings: [String] = []) throws -> TidemarkProcess {
        let all = settings + (instance.map { ["instance=\($0)"] } ?? [])
        return try TidemarkProcess(
            ["run", "-c", configurationFile.path] + all.flatMap { ["--set", $0] })
    }

    /// Runs a process that is expected to refuse to work, to its end.
    func startRefused(_ settings: [String] = []) throws -> TidemarkProcess.Ending {
        try start(instance: "refused", settings).waitForEnd(within: 90)
    }
}
