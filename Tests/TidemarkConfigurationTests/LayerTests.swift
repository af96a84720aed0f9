import TidemarkAttribution
import TidemarkReports
import Testing

@testable import TidemarkConfiguration

@Suite("Layers of the configuration")
struct LayerTests {
    @Test func defaultsAreThoseOfTheSpecification() throws {
        let configuration = try load()
        #expect(configuration.attribution == AttributionRules())
        #expect(configuration.report == ReportSettings())
        #expect(configuration.applicationID == "tidemark")
        #expect(configuration.kafka == ["bootstrap.servers": "localhost:9092"])
        #expect(configuration.input.topics == ["currents.events"])
        #expect(configuration.input.typeHeader == "event_type")
        #expect(configuration.input.topicTypes.isEmpty)
        #expect(configuration.input.avroSchemas.isEmpty)
        #expect(configuration.input.avroSchemaFiles.isEmpty)
        #expect(!configuration.input.repartition)
        #expect(configuration.output.reports == "tidemark.reports")
        #expect(configuration.output.opens == "tidemark.opens")
        #expect(configuration.output.deadLetters == "tidemark.dead-letter")
        #expect(configuration.output.format == .json)
        #expect(configuration.commitInterval == .seconds(1))
        #expect(configuration.workers == nil)
        #expect(configuration.instance == nil)
        #expect(configuration.limits.memory == nil)
        #expect(configuration.limits.recordBytes == 4 << 20)
        #expect(configuration.topics.partitions == 4)
        #expect(configuration.topics.replicationFactor == 1)
        #expect(configuration.transactionTimeoutMilliseconds == 15_000)
        #expect(configuration.sessionTimeoutMilliseconds == 20_000)
    }

    @Test func eachLayerOverridesTheOneBelow() throws {
        let file = "attribution: {window: {fixed: 40m}}"
        let environment = ["TIDEMARK_ATTRIBUTION_WINDOW_FIXED": "45m"]
        #expect(try load().attribution.fixedWindow == 30 * 60)
        #expect(try load(file).attribution.fixedWindow == 40 * 60)
        #expect(try load(file, environment: environment).attribution.fixedWindow == 45 * 60)
        let all = try load(file, environment: environment, set: ["attribution.window.fixed=50m"])
        #expect(all.attribution.fixedWindow == 50 * 60)
    }

    @Test func theLastOfSeveralOverridesCounts() throws {
        #expect(try load(set: ["workers=2", "workers=3"]).workers == 3)
        #expect(try load("workers: 2", set: ["workers=auto"]).workers == nil)
    }

    @Test func nestedAndDottedKeysMeanTheSame() throws {
        let nested = try load("attribution:\n  credit:\n    model: all_recent\n    limit: 5\n")
        let dotted = try load("attribution.credit.model: all_recent\nattribution: {credit.limit: 5}\n")
        #expect(nested.texts == dotted.texts)
        #expect(nested.attribution.creditModel == .allRecent)
        #expect(nested.attribution.creditLimit == 5)
    }

    @Test func everyKeyHasAVariable() throws {
        let variables = Configuration.keys.map(\.environmentVariable)
        #expect(Set(variables).count == variables.count)
        let environment = [
            "TIDEMARK_APPLICATION_ID": "reports", "TIDEMARK_INPUT_TOPICS": "a, b", "TIDEMARK_KAFKA_CLIENT_ID": "c",
            "TIDEMARK_KAFKA_BOOTSTRAP_SERVERS": "k1:9092,k2:9092", "TIDEMARK_LIMITS_RECORD_BYTES": "64KiB",
            "TIDEMARK_INPUT_TOPIC_TYPES": "a=x.Y, b.c=x.Z", "TIDEMARK_INPUT_AVRO_SCHEMAS": "a=x.avsc",
            "TIDEMARK_INPUT_AVRO_SCHEMA_FILES": "y.avsc, /z.avsc",
        ]
        let configuration = try load("input: {topic_types: {a: old, d: kept}}", environment: environment)
        #expect(configuration.applicationID == "reports")
        #expect(configuration.input.topics == ["a", "b"])
        #expect(configuration.bootstrapServers == "k1:9092,k2:9092")
        #expect(configuration.kafka["client.id"] == "c")
        #expect(configuration.limits.recordBytes == 64 << 10)
        #expect(configuration.input.topicTypes == ["a": "x.Y", "b.c": "x.Z", "d": "kept"])
        #expect(configuration.input.avroSchemas == ["a": "x.avsc"])
        #expect(configuration.input.avroSchemaFiles == ["y.avsc", "/z.avsc"])
    }

    @Test func reservedAndForeignVariablesAreNoSettings() throws {
        let environment = [
            "TIDEMARK_KAFKA": "localhost:1", "TIDEMARK_SCHEMA_REGISTRY": "http://localhost:2",
            "TIDEMARK_BINARY": "/bin/tidemark", "TIDEMARK_FIRST_SEED": "7", "TIDEMARK_SEEDS": "1", "PATH": "/bin",
        ]
        #expect(try load(environment: environment).texts == load().texts)
    }

    @Test func listsReplaceEachOther() throws {
        let file = "attribution: {excluded_platforms: [Web, TVOS]}"
        #expect(try load(file).attribution.excludedPlatforms == ["web", "tvos"])
        let none = try load(file, set: ["attribution.excluded_platforms=[]"])
        #expect(none.attribution.excludedPlatforms.isEmpty)
        let other = try load(file, set: ["attribution.excluded_platforms=[ios, web]"])
        #expect(other.attribution.excludedPlatforms == ["ios", "web"])
    }

    @Test func anchorsAndEmptySectionsAreFine() throws {
        let configuration = try load(
            "output:\ninput: {topic_types: }\nattribution:\n  session_merge: &short 90s\n  direct_join: *short\n")
        #expect(configuration.attribution.sessionMerge == 90)
        #expect(configuration.attribution.directJoin == 90)
        #expect(try load("# nothing\n").texts == load().texts)
        #expect(try load("---\n").texts == load().texts)
    }

    @Test func unlimitedIsAllowedWhereTheTableSaysSo() throws {
        let configuration = try load("attribution: {allowed_lateness: unlimited, future_tolerance: unlimited}")
        #expect(configuration.attribution.allowedLateness == nil)
        #expect(configuration.attribution.futureTolerance == nil)
        #expect(configuration.isSet("attribution.allowed_lateness"))
        #expect(!configuration.isSet("attribution.session_merge"))
    }
}
