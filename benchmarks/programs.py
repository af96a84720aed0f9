"""The streams, and Tidemark's commands that work on them: how each is started, when it is done, and what its result has to be."""

import filecmp
import itertools
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from measuring import ENVIRONMENT, Failure, Measured, words

ROOT = pathlib.Path(os.path.abspath(__file__)).parent.parent
SHARED = ROOT.parent / "shared"
KAFKA_SCRIPT = SHARED / "kafka" / "kafka"
PEERS = SHARED / "peers"
START_DAY = "2026-01-05"
PARTITIONS = 4
POLL_SECONDS = 0.05
LONGEST_SECONDS = 1_800


class Stream:
    """A sample stream in a file, with its truth."""

    def __init__(self, bench, name, users, days, campaigns):
        self.name = name
        self.options = ["--users", users, "--days", days, "--campaigns", campaigns, "--start", START_DAY]
        self.file = bench.folder / f"{name}.ndjson"
        self.truth = bench.folder / f"{name}-truth.ndjson"
        told = bench.tidemark("load", "--to", "file", *self.options, "--output", self.file, "--truth", self.truth)
        numbers = [int(number.replace(",", "")) for number in re.findall(
            r"([\d,]+) (?:records of|direct|influenced|events?,|duplicates|skipped)", told)]
        self.events, direct, influenced, counted, duplicates, skipped = numbers
        self.facts = {
            "options": " ".join(map(str, self.options)),
            "events": self.events,
            "bytes_per_event": round(self.file.stat().st_size / self.events),
            "users": users,
            "days": days,
            "push_campaigns": campaigns,
            "counted": counted,
            "duplicates": duplicates,
            "skipped": skipped,
            "direct_opens": direct,
            "influenced_opens": influenced,
            "rows": self.truth.read_bytes().count(b"\n"),
        }


class Bench:
    """What all programs need: the binary, a broker, a folder, and names that nobody had before."""

    def __init__(self, servers, folder, duckdb_python):
        self.binary = os.environ.get("TIDEMARK_BINARY", str(ROOT / ".build/release/tidemark"))
        self.servers = servers
        self.folder = pathlib.Path(folder)
        self.duckdb_python = duckdb_python
        self.prefix = f"bench-{os.getpid()}"
        self.numbers = itertools.count(1)
        self.broker = self.broker_pid()
        self.cores = len(os.sched_getaffinity(0))

    @staticmethod
    def broker_pid():
        """The process of the broker, if it is one that was started for this."""
        folder = os.environ.get("WITH_BROKER_FOLDER")
        return int((pathlib.Path(folder) / "node-1" / "pid").read_text()) if folder else None

    def new_name(self):
        return f"{self.prefix}-{next(self.numbers)}"

    def tidemark(self, *arguments):
        """Runs a command that is not measured; returns what it tells on standard error."""
        done = subprocess.run([self.binary, *map(str, arguments)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
        if done.returncode != 0:
            raise Failure(f"tidemark {' '.join(map(str, arguments))}:\n{done.stderr.decode()}")
        return done.stderr.decode()

    def measure(self, *command):
        return Measured(command, self.folder, self.broker)

    def settings(self, application, topic):
        values = {
            "application_id": application,
            "kafka.bootstrap.servers": self.servers,
            "input.topics": topic,
            "output.reports": f"{application}.reports",
            "output.opens": f"{application}.opens",
            "output.dead_letters": f"{application}.dead",
            "topics.partitions": PARTITIONS,
        }
        return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]

    def delete_topics(self):
        """Deletes what the programs left behind, where there is a tool to do so: disks are finite."""
        if KAFKA_SCRIPT.exists():
            subprocess.run(
                [KAFKA_SCRIPT, "topics", "--bootstrap-server", self.servers, "--delete", "--if-exists", "--topic", f"{self.prefix}-.*"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def compare(self, stream, rows, who):
        if not filecmp.cmp(stream.truth, rows, shallow=False):
            raise Failure(f"the rows of {who} differ from the truth")


class Program:
    """Something that works on a stream, in its file or in a topic."""

    name = ""

    def __init__(self, bench):
        self.bench = bench

    def missing(self):
        """Why it cannot run here; None if it can."""
        return None

    def measure(self, stream, topic):
        """Works through the stream once; returns what that took."""
        raise NotImplementedError


class LoadFile(Program):
    name = "load --to file"

    def measure(self, stream, topic):
        return self.bench.measure(
            self.bench.binary, "load", "-q", "--to", "file", *stream.options, "--output", stream.file).end()


class LoadTopic(Program):
    """Fills the topic that the programs after it read."""

    name = "load --to topic"

    def measure(self, stream, topic):
        settings = self.bench.settings(topic, topic)
        self.bench.tidemark("topics", "create", *settings)
        return self.bench.measure(self.bench.binary, "load", "-q", "--to", "topic", *stream.options, *settings).end()


class Replay(Program):
    name = "replay"

    def source(self, stream, topic):
        return [stream.file]

    def measure(self, stream, topic):
        rows = self.bench.folder / "rows.ndjson"
        took = self.bench.measure(
            self.bench.binary, "replay", "-q", *self.source(stream, topic), "--format", "ndjson", "--output", rows).end()
        self.bench.compare(stream, rows, self.name)
        return took


class ReplayTopic(Replay):
    name = "replay --topic"

    def source(self, stream, topic):
        return ["--topic", topic, "--set", f"kafka.bootstrap.servers={self.bench.servers}"]


class Application:
    """A new application on a topic, and its process, which is measured."""

    COUNTERS = {
        "records": "tidemark_input_records_total",
        "lag": "tidemark_aggregator_lag_records",
        "deltas": "tidemark_aggregator_deltas_total",
        "rows": "tidemark_aggregator_rows_total",
    }

    def __init__(self, bench, topic, **settings):
        self.name = bench.new_name()
        self.settings = bench.settings(self.name, topic)
        self.settings += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        bench.tidemark("topics", "create", *self.settings)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.run = bench.measure(bench.binary, "run", *self.settings, "--set", f"server.listen={self.address}")

    def metrics(self):
        """Each metric, summed over its labels; none before it answers."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, OSError):
            return {}
        sums = {}
        for name, value in re.findall(r"^([a-z_]+)(?:\{.*\})? (\S+)$", text, re.MULTILINE):
            sums[name] = sums.get(name, 0) + float(value)
        return sums

    def counters(self):
        """How far it is: the metrics that change with its work."""
        metrics = self.metrics()
        return {short: metrics.get(name) for short, name in self.COUNTERS.items()}

    @property
    def is_ready(self):
        return self.metrics().get("tidemark_process_ready") == 1

    def end(self, done=None):
        self.run.process.send_signal(signal.SIGTERM)
        return self.run.end(done)


class Run(Program):
    """Works off the backlog of a topic, exactly once, as an application that is new.

    It is done when all input is committed, all changes are added up and published, and the report is the truth. The clock stops with
    the last change of its counters, which are asked for every 50 ms; start-up counts.
    """

    name = "run"

    def measure(self, stream, topic):
        application = Application(self.bench, topic)
        return application.end(self.wait(application, stream))

    def wait(self, application, stream):
        """Waits until all is done; returns the clocks at that time."""
        run = application.run
        last, moment = {}, None
        while True:
            figures = application.counters()
            now = run.moment()
            if figures != last:
                last, moment = figures, now
            if last["records"] == stream.events and last["lag"] == 0 and self.is_published(stream, application):
                # A change may have been counted while the report was read.
                if application.counters() == last:
                    return moment
                continue
            if run.is_over:
                raise Failure("run ended before its time:\n" + run.tail())
            if now.wall > run.begin.wall + LONGEST_SECONDS:
                raise Failure(f"run is not done after {LONGEST_SECONDS} s; counters: {last}")
            time.sleep(POLL_SECONDS)

    def is_published(self, stream, application):
        rows = self.bench.folder / "rows.ndjson"
        self.bench.tidemark("report", "show", "-q", "--format", "ndjson", "--output", rows, *application.settings)
        return filecmp.cmp(stream.truth, rows, shallow=False)


def versions(bench):
    """Versions of all that takes part; None where it is not there."""
    kafka = next(iter(SHARED.glob("kafka/libs/kafka-clients-*.jar")), None)
    streams = next(iter(PEERS.glob("kafka-streams/libs/kafka-streams-*.jar")), None)
    return {
        "tidemark": words(bench.binary, "version"),
        "swift": words("swift", "--version"),
        "gcc": words("gcc", "--version"),
        "java": words("java", "-version"),
        "kafka": kafka.stem.rpartition("-")[2] if kafka else None,
        "kafka_streams": streams.stem.rpartition("-")[2] if streams else None,
        "duckdb": words(bench.duckdb_python, "-c", "import duckdb; print(duckdb.__version__)"),
        "python": sys.version.split()[0],
    }
