import Testing

@testable import TidemarkConfiguration

// What may be written, as the messages end.
private let aboveZeroSeconds = "write a duration of at least 1s in whole seconds, for example 30s, 45m, 24h or 7d"
private let anySeconds = "write a duration in whole seconds, for example 30s, 45m, 24h or 7d"
private let commitInterval = "write a duration from 10ms to 1m, for example 500ms or 2s"
private let topicNames = "write one or more different topic names, for example [currents.events]"
private let kafkaName = "write 1 to 100 letters, digits, dots, underscores or hyphens"
private let memorySize = "write a size from 64MiB to 1024TiB, for example 64KiB, 4MiB or 1GB, or `none`"
private let zoneName = "write an IANA name such as UTC or Europe/Berlin"
private let positiveNumber = "write a number greater than 0, for example 0.5"
private let newOwner = "so that a hung transaction ends before its partitions get a new owner"

@Suite("Messages about wrong settings")
struct ErrorTests {
    @Test(arguments: [
        (
            "attribution:\n  window:\n    fixd: 45m",
            "3: unknown key `attribution.window.fixd`; did you mean `attribution.window.fixed`?"
        ),
        ("worksers: 3", "1: unknown key `worksers`; did you mean `workers`?"),
        ("\natribution: {fixed: 1m}", "2: unknown key `atribution.fixed`; did you mean `attribution.window.fixed`?"),
        ("commit_interval: 1", "1: `commit_interval` `1` has no unit; \(commitInterval)"),
        ("commit_interval: 2m", "1: `commit_interval` `2m` is out of range; \(commitInterval)"),
        ("attribution.window.cap: 0s", "1: `attribution.window.cap` `0s` is too short; \(aboveZeroSeconds)"),
        (
            "attribution.session_merge: 1500ms",
            "1: `attribution.session_merge` `1500ms` has a fraction of a second; \(anySeconds)"
        ),
        (
            "attribution.window.fixed: unlimited",
            "1: `attribution.window.fixed` `unlimited` does not start with a whole number; \(aboveZeroSeconds)"
        ),
        (
            "attribution.history_months: 0",
            "1: `attribution.history_months` `0` is out of range; write a whole number from 1 to 120"
        ),
        (
            "attribution.credit.limit: 0",
            "1: `attribution.credit.limit` `0` is out of range; write a whole number from 1 to 1000"
        ),
        (
            "attribution.window.factor: .inf",
            "1: `attribution.window.factor` `.inf` is not a decimal number; \(positiveNumber)"
        ),
        (
            "attribution.window.factor: 1e999",
            "1: `attribution.window.factor` `1e999` is not a decimal number; \(positiveNumber)"
        ),
        ("attribution.window.factor: 0", "1: `attribution.window.factor` `0` is too small; \(positiveNumber)"),
        (
            "attribution.window.policy: long",
            "1: `attribution.window.policy` `long` is not known; write `longer`, `shorter` or `fixed`"
        ),
        ("limits.memory: 1", "1: `limits.memory` `1` has no unit; \(memorySize)"),
        ("workers: many", "1: `workers` `many` is not a whole number; write a whole number from 1 to 1024, or `auto`"),
        ("workers: [1, 2]", "1: `workers` takes one value, not a list; write a whole number from 1 to 1024, or `auto`"),
        ("workers:", "1: `workers` has no value; write a whole number from 1 to 1024, or `auto`"),
        ("input: {topics: []}", "1: `input.topics` names no topic; \(topicNames)"),
        ("input: {topics: [a, b, a]}", "1: `input.topics` names a topic twice; \(topicNames)"),
        ("input: {topics: [a b]}", "1: `input.topics` `a b` is not a name that Kafka takes; \(topicNames)"),
        ("input.topics: [{a: b}]", "1: `input.topics`: the items of a list must be plain text"),
        ("input.topic_types: x", "1: `input.topic_types` is a map; write one `topic: event type` per line"),
        ("input.avro_schemas: x", "1: `input.avro_schemas` is a map; write one `topic: file` per line"),
        (
            "input.avro_schema_files: ['']",
            "1: `input.avro_schema_files` has an empty entry; write a list of files, for example [schemas/send.avsc]; [] for none"
        ),
        ("input.repartition: maybe", "1: `input.repartition` `maybe` is neither; write `true` or `false`"),
        ("output.format: xml", "1: `output.format` `xml` is not known; write `json` or `avro`"),
        (
            "output.format: avro",
            "1: `output.format` is avro, and no `schema_registry.url` says where to register the schemas"
        ),
        ("application_id: a/b", "1: `application_id` `a/b` is not a name that Kafka takes; \(kafkaName)"),
        (
            "report.time_zone: Europe/Berln",
            "1: `report.time_zone` `Europe/Berln` is not a known time zone (did you mean `Europe/Berlin`?); \(zoneName)"
        ),
        (
            "attribution: 30m",
            "1: `attribution` is a section; write its keys below it, for example `attribution.window.policy`"
        ),
        ("workers: 1\nworkers: 2", "2: `workers` is set twice, first on line 1; remove one"),
        ("workers: 1\n---\nworkers: 2", "3: a second document; only one is allowed"),
        ("- workers", "1: the file must hold `key: value` lines"),
        ("a: b: c", "1: not valid YAML: mapping values are not allowed in this context"),
        ("? [a]\n: b", "1: a key must be plain text"),
        (
            "kafka: {group.id: g}",
            "1: `kafka.group.id` is set by Tidemark itself: the consumer group is named by `application_id`; remove it"
        ),
        (
            "kafka: {session.timeout.ms: 6s}",
            "1: `kafka.session.timeout.ms` `6s` is not a whole number of milliseconds greater than 0"
        ),
        ("kafka: {client.id: [a]}", "1: `kafka.client.id` takes one value, not a list"),
        (
            "kafka: {ssl.ca.location: 'env:NO_SUCH'}",
            "1: `kafka.ssl.ca.location` refers to the environment variable `NO_SUCH`, which is not set"
        ),
        (
            "kafka: {ssl.ca.pem: 'file:/no/such'}",
            "1: `kafka.ssl.ca.pem` refers to the file `/no/such`, which cannot be read"
        ),
        (
            "attribution.direct_join: 25h",
            "1: `attribution.direct_join` (25h) is longer than `attribution.instance_span` (1d); it may be as long at most"
        ),
        (
            "kafka: {transaction.timeout.ms: 20000}",
            "1: `kafka.transaction.timeout.ms` (20000) must be less than `kafka.session.timeout.ms` (20000), \(newOwner)"
        ),
        (
            "output: {opens: tidemark.reports}",
            "1: `output.reports` and `output.opens` both name the topic `tidemark.reports`; each needs its own"
        ),
        (
            "output: {opens: currents.events}",
            "1: `output.opens` and `input.topics` both name the topic `currents.events`; each needs its own"
        ),
    ])
    func wrongFile(yaml: String, message: String) {
        #expect(messages(yaml) == ["tidemark.yaml:\(message)"])
    }

    @Test(arguments: [
        "group.id", "transactional.id", "enable.auto.commit", "enable.auto.offset.store", "isolation.level",
        "auto.offset.reset", "enable.idempotence", "partition.assignment.strategy",
    ])
    func ownedPropertiesAreRefusedInEveryLayer(property: String) throws {
        let reason = try #require(KafkaProperties.owned[property])
        let ending = "`kafka.\(property)` is set by Tidemark itself: \(reason); remove it"
        let variable = "TIDEMARK_KAFKA_" + property.uppercased().split(separator: ".").joined(separator: "_")
        #expect(messages("kafka.\(property): x") == ["tidemark.yaml:1: \(ending)"])
        #expect(messages(environment: [variable: "x"]) == ["environment variable \(variable): \(ending)"])
        #expect(messages(set: ["kafka.\(property)=x"]) == ["--set kafka.\(property): \(ending)"])
    }

    @Test func unknownVariablesNameTheNearest() {
        #expect(
            messages(environment: ["TIDEMARK_ATTRIBUTION_WINDOW_FIXD": "1m"]) == [
                "environment variable TIDEMARK_ATTRIBUTION_WINDOW_FIXD: unknown key; "
                    + "did you mean `TIDEMARK_ATTRIBUTION_WINDOW_FIXED` (`attribution.window.fixed`)?"
            ])
    }

    @Test func overridesNeedAKeyAndAValue() {
        #expect(messages(set: ["workers"]) == ["--set workers: write it as key=value"])
        #expect(messages(set: ["=secret"]) == ["--set : write it as key=value"])
        #expect(
            messages(set: ["input.topic_types=a"]) == [
                "--set input.topic_types: `input.topic_types` `a` has no `=`; write name=value with commas between"
            ])
    }

    @Test func allProblemsAreTold() {
        let found = messages(
            "workers: x\nfoo: 1\nattribution.direct_join: 48h\n", environment: ["TIDEMARK_COMMIT_INTERVAL": "1"],
            set: ["topics.partitions=0", "output.format=xml"])
        #expect(found.count == 6)
        #expect(found[0].hasPrefix("tidemark.yaml:1: `workers` "))
        #expect(found[1].hasPrefix("tidemark.yaml:2: unknown key `foo`"))
        #expect(found[2].hasPrefix("environment variable TIDEMARK_COMMIT_INTERVAL: `commit_interval` "))
        #expect(found[3].hasPrefix("--set topics.partitions: `topics.partitions` "))
        #expect(found[4].hasPrefix("--set output.format: `output.format` "))
        #expect(found[5].hasPrefix("tidemark.yaml:3: `attribution.direct_join` (2d) "))
    }

    @Test func missingFileIsNamed() {
        #expect(throws: ConfigurationErrors(messages: ["/no/such.yaml: no such file"])) {
            try Configuration.load(file: "/no/such.yaml", environment: [:])
        }
        #expect(throws: ConfigurationErrors(messages: ["/tmp: no such file"])) {
            try Configuration.load(file: "/tmp", environment: [:])
        }
    }

    @Test func hostileDocumentsEnd() {
        let deep = String(repeating: "{a: ", count: 100) + "1" + String(repeating: "}", count: 100)
        var bomb = "a0: &a0 [x, x]\n"
        for level in 1...30 { bomb += "a\(level): &a\(level) {l: *a\(level - 1), r: *a\(level - 1)}\n" }
        for document in [deep, bomb, "a: &a {b: *a}"] {
            let found = messages(document)
            #expect(found.count == 1)
            #expect(found.first?.hasSuffix(": nested too deeply or repeated too often") == true)
        }
        #expect(messages(String(repeating: "[", count: 5_000)).count == 1)
        #expect(messages("a: \u{0}") == ["tidemark.yaml:1: not valid YAML: control characters are not allowed"])
    }
}
