public import TidemarkAttribution
public import TidemarkRegistry
public import TidemarkReports

/// The settings of one Tidemark process, typed and checked.
///
/// Layers: defaults < YAML file < `TIDEMARK_…` environment < `--set key=value`;
/// see `load(file:environment:overrides:)`.
public struct Configuration: Sendable {
    /// `application_id`: name of the consumer group, and prefix of transactional ids and internal topics.
    public var applicationID = ""
    /// `instance`: name of this process in its transactional ids; `nil` lets the program choose one.
    public var instance: String?
    /// `kafka`: librdkafka properties by name, references (`env:`, `file:`) resolved. May hold secrets: never log.
    public var kafka: [String: String] = [:]
    /// `input`.
    public var input = Input()
    /// `output`.
    public var output = Output()
    /// `attribution`.
    public var attribution = AttributionRules()
    /// `report`.
    public var report = ReportSettings()
    /// `schema_registry`. May hold secrets: never log.
    public var schemaRegistry = RegistrySettings()
    /// `commit_interval`: time between two transactions of a worker.
    public var commitInterval = Duration.zero
    /// `workers`: threads that process events; `nil` is one per core.
    public var workers: Int?
    /// `standby`: whether the process keeps states of partitions that it does not have.
    public var standby = false
    /// `limits`.
    public var limits = Limits()
    /// `server`.
    public var server = Server()
    /// `ingest`.
    public var ingest = Ingest()
    /// `topics`: what `topics create` makes.
    public var topics = Topics()

    /// Where the settings came from that a layer has set, by key.
    var origins: [String: Origin] = [:]
    /// The references that values were resolved from, by key.
    var references: [String: String] = [:]

    /// What is read.
    public struct Input: Sendable {
        /// `input.topics`: not empty, each once.
        public var topics: [String] = []
        /// `input.type_header`: record header that names the event type of a flat record.
        public var typeHeader = ""
        /// `input.topic_types`: event type of the flat records of a topic, by topic.
        public var topicTypes: [String: String] = [:]
        /// `input.avro_schemas`: file with the writer schema of a topic's bare Avro values, by topic.
        public var avroSchemas: [String: String] = [:]
        /// `input.avro_schema_files`: files with further writer schemas, which values name by their fingerprints.
        public var avroSchemaFiles: [String] = []
        /// `input.repartition`: whether events must be brought together by user first.
        public var repartition = false
        /// `input.key_check`: what happens when a record is not where its user's records belong.
        public var keyCheck = KeyCheck.warn

        /// What to do about records whose key or partition is wrong.
        public enum KeyCheck: String, CaseIterable, Sendable {
            /// Stop.
            case strict
            /// Say so once and go on.
            case warn
            /// Look at no key.
            case off
        }
    }

    /// What is published, and where.
    public struct Output: Sendable {
        /// `output.reports`: topic of the report rows.
        public var reports = ""
        /// `output.opens`: topic of the open records.
        public var opens = ""
        /// `output.dead_letters`: topic of the records that could not be counted.
        public var deadLetters = ""
        /// `output.format`: encoding of reports and opens.
        public var format = Format.json

        /// An encoding of published records.
        public enum Format: String, CaseIterable, Sendable {
            /// One JSON object per record.
            case json
            /// Avro, with schemas of the registry.
            case avro
        }
    }

    /// Bounds on what the process uses.
    public struct Limits: Sendable {
        /// `limits.memory`, bytes; `nil` is no limit.
        public var memory: Int?
        /// `limits.record_bytes`: a larger input record becomes a dead letter.
        public var recordBytes = 0
    }

    /// What is served over HTTP.
    public struct Server: Sendable {
        /// `server.listen`: where; `nil` serves nothing.
        public var listen: ListenAddress?
    }

    /// The shape of created topics.
    public struct Topics: Sendable {
        /// `topics.partitions`: partitions of the input topics and of the topics that follow them.
        public var partitions = 0
        /// `topics.report_partitions`: partitions of the report and of the deltas that feed it.
        public var reportPartitions = 0
        /// `topics.replication_factor`.
        public var replicationFactor = 0
    }

    /// Whether a layer above the defaults has set a key, if only to its default.
    ///
    /// - Parameter key: dotted name, for example `attribution.allowed_lateness`.
    public func isSet(_ key: String) -> Bool { origins[key] != nil }

    /// The defaults.
    public init() {
        for key in Configuration.keys {
            guard case .value(let write, _) = key.access else { continue }
            do {
                try write(.text(key.defaultText), &self)
            } catch {
                preconditionFailure("default of \(key.name): \(error.what)")
            }
        }
    }
}
