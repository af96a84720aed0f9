import TidemarkAttribution
import TidemarkReports

extension Configuration {
    /// Every key there is. Parsing, defaults, rendering, suggestions and the reference file follow from this table.
    public static let keys: [ConfigurationKey] =
        generalKeys + kafkaKeys + inputKeys + outputKeys + registryKeys + attributionKeys + reportKeys + limitKeys
        + serverKeys + ingestKeys + topicKeys

    private static let generalKeys: [ConfigurationKey] = [
        .value(
            "application_id", \.applicationID, .kafkaName(atMost: 100), default: "tidemark",
            "Name of the consumer group, and prefix of transactional ids and internal topics"),
        .value(
            "instance", \.instance, .kafkaName(atMost: 100), or: "auto", default: "auto",
            "Name of this process among those of the application; auto takes the host name and a free slot"),
        .value(
            "commit_interval", \.commitInterval, .duration(10...60_000), default: "1s",
            "Time between two transactions of a worker; up to four times as long while a backlog is worked off"
        ),
        .value(
            "workers", \.workers, .integer(1...1024), or: "auto", default: "auto",
            "Threads that process events; auto is one per core"),
        .value(
            "standby", \.standby, .flag, default: "false",
            "Keep the state of all other partitions as well, to take them over faster: needs memory for all users"),
    ]

    private static let kafkaKeys: [ConfigurationKey] = [
        .value(
            "kafka.bootstrap.servers", \.bootstrapServers, .text, default: "localhost:9092",
            "Brokers to connect to first, as host:port with commas between"
        ).byReference,
        ConfigurationKey(
            name: "kafka", kind: .map, defaultText: "",
            summary: "Any other librdkafka property; env:NAME and file:/path take the value from a variable or a file",
            allowed: "one `property: value` per line, for example `sasl.password: env:SASL_PASSWORD`",
            access: .entries(write: KafkaProperties.write, read: KafkaProperties.readAllButServers)
        ).byReference,
    ]

    private static let inputKeys: [ConfigurationKey] = [
        .value(
            "input.topics", \.input.topics, .topics, default: "currents.events",
            "Topics with events; without input.repartition all need as many partitions, and records keyed by user id"),
        .value(
            "input.type_header", \.input.typeHeader, .text, default: "event_type",
            "Record header that names the event type of a flat record without an event_type field"),
        ConfigurationKey(
            name: "input.topic_types", kind: .map, defaultText: "",
            summary: "Event type of a topic's flat records where neither a field nor a header names it",
            allowed: "one `topic: event type` per line",
            access: .entries(
                write: { (topic, type, configuration) throws(ValueProblem) in
                    try checkKafkaName(topic, atMost: 249)
                    guard !type.isEmpty else { throw ValueProblem("is empty") }
                    configuration.input.topicTypes[topic] = type
                },
                read: { $0.input.topicTypes })),
        ConfigurationKey(
            name: "input.avro_schemas", kind: .map, defaultText: "",
            summary:
                "File with the writer schema of a topic's Avro values that do not name theirs; other values are read as ever",
            allowed: "one `topic: file` per line",
            access: .entries(
                write: { (topic, file, configuration) throws(ValueProblem) in
                    try checkKafkaName(topic, atMost: 249)
                    guard !file.isEmpty else { throw ValueProblem("is empty") }
                    configuration.input.avroSchemas[topic] = file
                },
                read: { $0.input.avroSchemas })),
        .value(
            "input.avro_schema_files", \.input.avroSchemaFiles, .files, default: "",
            "Files with more writer schemas, for values in Avro's single-object encoding, which name one by its fingerprint"
        ),
        .value(
            "input.repartition", \.input.repartition, .flag, default: "false",
            "Bring events together by user first, in the topic <application_id>-by-user: for topics that are not keyed so"
        ),
        .value(
            "input.key_check", \.input.keyCheck, .choice, default: "warn",
            "When a sampled record is not keyed by user id, or not where that key belongs: stop, say so once, or do not look"
        ),
    ]

    private static let outputKeys: [ConfigurationKey] = [
        .value(
            "output.reports", \.output.reports, .kafkaName(atMost: 249), default: "tidemark.reports",
            "Compacted topic of the report rows"),
        .value(
            "output.opens", \.output.opens, .kafkaName(atMost: 249), default: "tidemark.opens",
            "Compacted topic of the direct and influenced opens that stand now"),
        .value(
            "output.dead_letters", \.output.deadLetters, .kafkaName(atMost: 249), default: "tidemark.dead-letter",
            "Topic of the records that could not be counted, with the reason in their headers"),
        .value(
            "output.format", \.output.format, .choice, default: "json",
            "Encoding of reports and opens; avro needs schema_registry.url, keys and dead letters stay as they are"),
    ]

    private static let attributionKeys: [ConfigurationKey] = [
        .value(
            "attribution.window.policy", \.attribution.windowPolicy, .choice, default: "longer",
            "Which window counts: the longer or the shorter of the fixed and the personal one, or the fixed one alone"),
        .value(
            "attribution.window.fixed", \.attribution.fixedWindow, .seconds(from: 1), default: "30m",
            "The fixed window: an app open this soon after a push can be influenced by it"),
        .value(
            "attribution.window.factor", \.attribution.windowFactor, .positiveNumber, default: "0.5",
            "The personal window as a share of the user's mean time between app opens"),
        .value(
            "attribution.window.cap", \.attribution.windowCap, .seconds(from: 1), default: "7d",
            "The longest personal window"),
        .value(
            "attribution.credit.model", \.attribution.creditModel, .choice, default: "last_push",
            "Which pushes an app open credits: the last one, or all recent ones"),
        .value(
            "attribution.credit.limit", \.attribution.creditLimit, .integer(1...1000), default: "10",
            "How many pushes one app open credits at most under all_recent"),
        .value(
            "attribution.session_merge", \.attribution.sessionMerge, .seconds(from: 0), default: "60s",
            "App opens closer than this count as one in a user's session history"),
        .value(
            "attribution.direct_join", \.attribution.directJoin, .seconds(from: 0), default: "60s",
            "An app open this close to a direct open belongs to it and influences nothing"),
        .value(
            "attribution.instance_span", \.attribution.instanceSpan, .seconds(from: 1), default: "24h",
            "Sends of one message to one user within this time count as one push"),
        .value(
            "attribution.history_months", \.attribution.historyMonths, .integer(1...120), default: "3",
            "Calendar months of session history behind a personal window, the month of the push included"),
        .value(
            "attribution.excluded_platforms", \.attribution.excludedPlatforms, .words, default: "web, tvos, roku",
            "Pushes to these platforms influence nothing"),
        .value(
            "attribution.allowed_lateness", \.attribution.allowedLateness, .seconds(from: 0), or: "unlimited",
            default: "24h", "How far behind the watermark an event still counts; later ones are dead letters"),
        .value(
            "attribution.future_tolerance", \.attribution.futureTolerance, .seconds(from: 0), or: "unlimited",
            default: "1h", "How far ahead of its ingest time an event may be dated; others are dead letters"),
    ]

    private static let reportKeys: [ConfigurationKey] = [
        .value(
            "report.time_zone", \.report.timeZone, .timeZone, default: "UTC",
            "Zone whose calendar days the day rows are of"),
        .value(
            "report.unique_retention", \.report.uniqueRetention, .seconds(from: 1), default: "90d",
            "In campaign totals a user counts anew after this long without a matching event"),
    ]

    private static let limitKeys: [ConfigurationKey] = [
        .value(
            "limits.memory", \.limits.memory, .size(64 << 20...1 << 50), or: "none", default: "none",
            "Memory that the process may use; replay writes users that do not fit to disk (none: into 3/4 of what is free)"
        ),
        .value(
            "limits.record_bytes", \.limits.recordBytes, .size(1 << 10...1 << 30), default: "4MiB",
            "A larger input record becomes a dead letter"),
    ]

    private static let serverKeys: [ConfigurationKey] = [
        .value(
            "server.listen", \.server.listen, .listenAddress, or: "off", default: "127.0.0.1:9464",
            "Where run and ingest serve metrics and health over HTTP; without effect where the default is taken already"
        )
    ]

    private static let topicKeys: [ConfigurationKey] = [
        .value(
            "topics.partitions", \.topics.partitions, .integer(1...100_000), default: "4",
            "Partitions of the input topics that topics create makes, and of those that follow them"),
        .value(
            "topics.report_partitions", \.topics.reportPartitions, .integer(1...1000), default: "4",
            "Partitions of the report topic, each summed up by one aggregator"),
        .value(
            "topics.replication_factor", \.topics.replicationFactor, .integer(1...100), default: "1",
            "Replicas of each topic that topics create makes"),
    ]
}
