import TidemarkProcessor

let partitionMisfits: [Misfit] = [
    .partitions(
        "input topics of different size", "b", 3, ["refuse b"],
        says: [
            "has 3 partitions, another input topic 4", "wanted: 4 partitions",
            "`kafka-topics --bootstrap-server localhost:9092 --alter --topic b --partitions 4`",
        ]),
    // The larger one is the measure, so what follows the input no longer fits either.
    .partitions("a larger input topic", "b", 5, ["refuse a", "refuse tidemark-checkpoint"]),
    .partitions(
        "a checkpoint of another size", "tidemark-checkpoint", 8, ["refuse tidemark-checkpoint"],
        says: [
            "has 8 partitions, the input 4",
            "`kafka-topics --bootstrap-server localhost:9092 --delete --topic tidemark-checkpoint`",
            "under a new application_id and new output topics: with `input.repartition: true`",
        ]),
    .partitions(
        "deltas of another size", "tidemark-deltas", 3, ["refuse tidemark-deltas"],
        says: ["has 3 partitions, `tidemark.reports` 4", "wanted: 4 partitions"]),
    .partitions(
        "positions of another size", "tidemark-positions", 3, ["refuse tidemark-positions"],
        says: ["has 3 partitions, `tidemark.reports` 4", "wanted: 4 partitions"]),
    .partitions(
        "reports of another size", "tidemark.reports", 1, ["refuse tidemark-deltas", "refuse tidemark-positions"]),
    .partitions(
        "several partitions of names", "tidemark-names", 4, ["refuse tidemark-names"], says: ["wanted: 1 part"]),
    .partitions("opens may have any size", "tidemark.opens", 1, []),
    .partitions("dead letters may have any size", "tidemark.dead-letter", 1, []),
    Misfit(
        what: "a missing topic", change: { $0.topics["tidemark.opens"] = nil }, expected: ["refuse tidemark.opens"],
        says: ["does not exist", "`tidemark topics create`"]),
    Misfit(
        what: "no marks of redriven dead letters, as before there were any",
        change: { $0.topics["tidemark-redriven"] = nil }, expected: ["warn tidemark-redriven"],
        says: ["does not exist", "`tidemark topics create`"]),
    .partitions(
        "several partitions of marks", "tidemark-redriven", 2, ["refuse tidemark-redriven"], says: ["wanted: 1 part"]),
    .config(
        "marks that are deleted", "tidemark-redriven", ["cleanup.policy": "delete"], ["refuse tidemark-redriven"],
        says: ["wanted: cleanup.policy=compact"]),
]

private let repartition = ["input.repartition=true"]

let byUserMisfits: [Misfit] = [
    .partitions("sources of different size", "b", 3, settings: repartition, []),
    .partitions(
        "a checkpoint unlike the events by user", "tidemark-checkpoint", 8, settings: repartition,
        ["refuse tidemark-checkpoint"], says: ["has 8 partitions, `tidemark-by-user` 4"]),
    .partitions(
        "events by user unlike the checkpoint", "tidemark-by-user", 5, settings: repartition,
        ["refuse tidemark-checkpoint"], says: ["has 4 partitions, `tidemark-by-user` 5"]),
    .config(
        "events by user that are compacted", "tidemark-by-user", ["cleanup.policy": "compact"], settings: repartition,
        ["refuse tidemark-by-user"], says: ["wanted: cleanup.policy=delete"]),
    .config(
        "events by user that go early", "tidemark-by-user", ["retention.ms": "86400000", "retention.bytes": "1000"],
        settings: repartition, ["warn tidemark-by-user"],
        says: ["reads again what came since", "--add-config retention.ms=604800000,retention.bytes=-1`"]),
    .config(
        "events by user kept for days", "tidemark-by-user", ["retention.ms": "259200000"], settings: repartition, []),
    .config(
        "events by user one byte short", "tidemark-by-user", ["max.message.bytes": "4259839"], settings: repartition,
        ["refuse tidemark-by-user"], says: ["--add-config max.message.bytes=4259840`"]),
    .config(
        "source retention by time", "a", ["retention.ms": "86400000"], settings: repartition, ["warn a"],
        says: ["events that are not read by then are lost to the reports"]),
]

let cleanupMisfits: [Misfit] =
    policyMisfits(
        ["tidemark.reports", "tidemark.opens", "tidemark-names", "tidemark-checkpoint", "tidemark-positions"],
        policies: ["delete", "compact,delete", ""], wanted: "cleanup.policy=compact")
    + policyMisfits(
        ["a", "tidemark-deltas", "tidemark.dead-letter"], policies: ["compact", "delete,compact"],
        wanted: "cleanup.policy=delete")
    + [.config("an input that is never cleaned up", "a", ["cleanup.policy": "", "retention.ms": "1"], [])]

/// Each of the topics with each of the wrong policies.
private func policyMisfits(_ topics: [String], policies: [String], wanted: String) -> [Misfit] {
    var result: [Misfit] = []
    for topic in topics {
        for policy in policies {
            result.append(
                .config(
                    "\(topic) with cleanup.policy \(policy)", topic, ["cleanup.policy": policy], ["refuse \(topic)"],
                    says: ["wanted: \(wanted)\n", "--entity-name \(topic) --add-config \(wanted)`"]))
        }
    }
    return result
}

let retentionMisfits: [Misfit] = [
    .config(
        "input retention by time", "a", ["retention.ms": "86400000"], ["warn a"],
        says: [
            "retention.ms=86400000 (1 day)", "reads again what came since", "wanted: retention of 3 days or more",
            "--add-config retention.ms=-1`",
        ]),
    .config("input retention by time, long enough", "a", ["retention.ms": "604800000"], []),
    .config("input retention by size", "b", ["retention.bytes": "1000"], ["warn b"], says: ["retention.bytes=-1`"]),
    .config(
        "input retention by both", "b", ["retention.bytes": "1000", "retention.ms": "90000"], ["warn b"],
        says: ["retention.ms=90000 (90 seconds) and retention.bytes=1000", "retention.ms=-1,retention.bytes=-1`"]),
    .config("input retention without end", "a", ["retention.ms": "9223372036854775807"], []),
    .config(
        "short retention of deltas", "tidemark-deltas", ["retention.ms": "86400000"], ["warn tidemark-deltas"],
        says: ["retention.ms=86400000 (1 day)", "wanted: retention of 7 days or more", "retention.ms=604800000`"]),
    .config("long retention of deltas", "tidemark-deltas", ["retention.ms": "2592000000"], []),
    .config(
        "deltas bounded by size", "tidemark-deltas", ["retention.bytes": "1000"], ["warn tidemark-deltas"],
        says: ["retention.bytes=1000", "--add-config retention.bytes=-1`"]),
    .config("dead letters kept for a day", "tidemark.dead-letter", ["retention.ms": "86400000"], []),
]

/// Settings of an input topic whose producers set the times.
private func createTime(_ bounds: [String: String]) -> [String: String] {
    bounds.merging(["message.timestamp.type": "CreateTime"]) { $1 }
}

private let unbounded = "9223372036854775807"

let timeMisfits: [Misfit] = [
    .config(
        "unbounded times on old brokers", "a", createTime(["message.timestamp.difference.max.ms": unbounded]),
        ["refuse a"],
        says: [
            "--add-config message.timestamp.type=LogAppendTime`", "message.timestamp.difference.max.ms=3600000`",
        ]),
    .config(
        "unbounded times on new brokers", "b",
        createTime([
            "message.timestamp.difference.max.ms": unbounded, "message.timestamp.after.max.ms": unbounded,
            "message.timestamp.before.max.ms": unbounded,
        ]), ["refuse b"], says: ["message.timestamp.after.max.ms=3600000`"]),
    .config("no bound told", "a", createTime([:]), ["refuse a"]),
    .config(
        "the past bounded, the future not", "a",
        createTime(["message.timestamp.after.max.ms": unbounded, "message.timestamp.before.max.ms": "1000"]),
        ["refuse a"]),
    .config("bounded on old brokers", "a", createTime(["message.timestamp.difference.max.ms": "3600000"]), []),
    .config(
        "bounded by the old setting on new brokers", "a",
        createTime([
            "message.timestamp.difference.max.ms": "3600000", "message.timestamp.after.max.ms": unbounded,
        ]), []),
    .config("bounded on new brokers", "a", createTime(["message.timestamp.after.max.ms": "3600000"]), []),
    .config(
        "any future tolerated", "a", createTime([:]), settings: ["attribution.future_tolerance=unlimited"], []),
    .config("just within lateness", "a", createTime(["message.timestamp.after.max.ms": "82800000"]), []),
    .config(
        "a bound beyond lateness", "a", createTime(["message.timestamp.after.max.ms": "82800001"]), ["warn a"],
        says: ["dated up to 82800001 ms ahead", "makes punctual events late"]),
    .config(
        "a bound near the largest number", "a", createTime(["message.timestamp.after.max.ms": "9223372036854775806"]),
        ["warn a"]),
    .config(
        "nothing is ever late", "a", createTime(["message.timestamp.after.max.ms": "86400000000"]),
        settings: ["attribution.allowed_lateness=unlimited"], []),
]

let sizeMisfits: [Misfit] = [
    .config(
        "dead letters one byte short", "tidemark.dead-letter", ["max.message.bytes": "4259839"],
        ["refuse tidemark.dead-letter"],
        says: ["has max.message.bytes=4259839, the input 4194304", "--add-config max.message.bytes=4259840`"]),
    .config("dead letters just large enough", "tidemark.dead-letter", ["max.message.bytes": "4259840"], []),
    .config(
        "one input larger than dead letters", "b", ["max.message.bytes": "8388608"], ["refuse tidemark.dead-letter"],
        says: ["--add-config max.message.bytes=8454144`"]),
    .config(
        "large segments of the checkpoint", "tidemark-checkpoint", ["segment.bytes": "1073741824"],
        ["warn tidemark-checkpoint"], says: ["segment.bytes=1073741824", "--add-config segment.bytes=67108864`"]),
    .config("the largest useful segments", "tidemark.reports", ["segment.bytes": "134217728"], []),
    .config("large segments of opens", "tidemark.opens", ["segment.bytes": "1073741824"], []),
]

let replicaMisfits: [Misfit] = [
    .config(
        "fewer replicas than must be in sync", "tidemark.opens", ["min.insync.replicas": "2"], ["warn tidemark.opens"],
        says: ["replication factor 1, less than min.insync.replicas=2", "--add-config min.insync.replicas=1`"]),
    Misfit(
        what: "one replica on several brokers",
        change: {
            $0.brokers = 2
            for name in $0.topics.keys where name != "tidemark-names" { $0.topics[name]?.replicationFactor = 2 }
        }, expected: ["warn tidemark-names"],
        says: ["replication factor 1 in a cluster of 2 brokers", "wanted: replication factor 2"]),
    Misfit(
        what: "replicas not known",
        change: {
            $0.brokers = 3
            for name in $0.topics.keys { $0.topics[name]?.replicationFactor = nil }
        }, expected: []),
]
