"""Programs of others that do the same work or a part of it, as far as they are here."""

import json
import os
import re
import shutil
import subprocess

from measuring import Failure, words
from programs import KAFKA_SCRIPT, PARTITIONS, PEERS, Program

IDLE_SECONDS = 5
GREATEST_DIFFERENCE = 0.02


def own_figures(text):
    """What a peer says of itself, in its last line `events=… seconds=… cpu_seconds=…`."""
    lines = re.findall(r"^events=(\d+).* seconds=([\d.]+) cpu_seconds=([\d.]+)", text, re.MULTILINE)
    if not lines:
        raise Failure("a peer gave no figures:\n" + text[-2_000:])
    events, seconds, cpu = lines[-1]
    return int(events), float(seconds), float(cpu)


class Peer(Program):
    """Another program. Its wall clock is its own, which begins with its first record: its start-up does not count."""

    def take(self, took, stream, text):
        events, seconds, cpu = own_figures(text)
        if events != stream.events:
            raise Failure(f"{self.name} read {events} events of {stream.events}")
        return {**took, "seconds": seconds, "process_seconds": took["seconds"], "own_cpu_seconds": cpu}


class PlainConsumer(Peer):
    """Reads a topic with librdkafka and does nothing with it."""

    name = "plain consumer"
    source = PEERS / "plain-consumer.c"

    def missing(self):
        if not self.source.exists():
            return "../shared/peers/plain-consumer.c is not here"
        if not shutil.which("gcc"):
            return "gcc is missing"
        self.binary = self.bench.folder / "plain-consumer"
        built = subprocess.run(
            ["gcc", "-O2", "-o", self.binary, self.source, "-lrdkafka"], stderr=subprocess.PIPE)
        return None if built.returncode == 0 else "gcc: " + built.stderr.decode(errors="replace").strip().split("\n")[-1]

    def measure(self, stream, topic):
        process = self.bench.measure(self.binary, self.bench.servers, topic, PARTITIONS)
        took = process.end()
        return self.take(took, stream, process.output.read_text())


class KafkaStreams(Peer):
    name = "Kafka Streams"
    script = PEERS / "kafka-streams" / "run"

    def __init__(self, bench):
        super().__init__(bench)
        self.compared = set()

    def missing(self):
        if not self.script.exists():
            return "../shared/peers/kafka-streams is not here"
        if not KAFKA_SCRIPT.exists():
            return "../shared/kafka, whose libraries it needs, is not here"
        home = os.environ.get("JAVA_HOME")
        return None if shutil.which(f"{home}/bin/java" if home else "java") else "Java is missing"

    def measure(self, stream, topic):
        application = self.bench.new_name()
        state = self.bench.folder / "streams-state"
        shutil.rmtree(state, ignore_errors=True)
        output = f"{application}-report"
        subprocess.run(
            [KAFKA_SCRIPT, "topics", "--bootstrap-server", self.bench.servers, "--create", "--topic", output,
             "--partitions", str(PARTITIONS), "--config", "cleanup.policy=compact"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process = self.bench.measure(
            self.script, "--bootstrap", self.bench.servers, "--input", topic, "--output", output, "--state-dir", state,
            "--app-id", application, "--threads", self.bench.cores, "--idle-exit", IDLE_SECONDS)
        took = process.end()
        shutil.rmtree(state, ignore_errors=True)
        took = self.take(took, stream, process.output.read_text())
        # Reading the rows takes longer than writing them did; what was right once is right again.
        if stream.name not in self.compared:
            self.compared.add(stream.name)
            took["difference"] = difference(stream, self.rows(output), self.name)
        return took

    def rows(self, topic):
        """The latest version of each row."""
        told = subprocess.run(
            [KAFKA_SCRIPT, "console-consumer", "--bootstrap-server", self.bench.servers, "--topic", topic, "--from-beginning",
             "--isolation-level", "read_committed", "--timeout-ms", "10000",
             "--property", "print.key=true"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        # The tool logs to standard output, too; only records have a tab.
        records = (line.split("\t", 1) for line in told.splitlines() if "\t" in line)
        return {tuple(json.loads(key)): json.loads(value) for key, value in records}


class DuckDB(Peer):
    name = "DuckDB"
    script = PEERS / "duckdb" / "duckdb_replay.py"

    def missing(self):
        if not self.script.exists():
            return "../shared/peers/duckdb is not here"
        if words(self.bench.duckdb_python, "-c", "import duckdb") is None:
            return "the Python of --duckdb-python cannot import duckdb"
        return None

    def measure(self, stream, topic):
        process = self.bench.measure(
            self.bench.duckdb_python, self.script, stream.file, "--threads", self.bench.cores)
        took = process.end()
        took = self.take(took, stream, process.log.read_text())
        # After its clock has stopped it counts the lines of the file: not a part of the job.
        took["cpu_seconds"] = took["own_cpu_seconds"]
        rows = {}
        for line in process.output.read_text().splitlines():
            row = json.loads(line)
            rows[tuple(row.pop("key"))] = row
        return {**took, "difference": difference(stream, rows, self.name)}


def difference(stream, rows, who):
    """By how much a peer's counts of push rows by day differ from the truth, as a share of all that is counted.

    Peers leave out rules that the sample stream uses, such as that an open without a platform has that of its push; so it is not nothing,
    but more than a little would mean that the peer did another job.
    """
    names = ("sends", "bounces", "direct_opens", "influenced_opens")
    key_names = ("campaign_id", "message_variation_id", "canvas_id", "canvas_variation_id", "canvas_step_id", "platform", "day")
    due = {}
    with open(stream.truth, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["row"] == "message_day" and row["channel"] == "push":
                due[tuple(row[name] for name in key_names)] = row["metrics"]
    wrong = sum(
        abs(due.get(key, {}).get(name, 0) - rows.get(key, {}).get(name, 0)) for key in due.keys() | rows.keys() for name in names)
    share = wrong / sum(metrics.get(name, 0) for metrics in due.values() for name in names)
    if share > GREATEST_DIFFERENCE:
        raise Failure(f"the counts of {who} differ from the truth by {share:.1%}")
    return round(share, 5)
