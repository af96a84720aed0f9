"""How long it takes at a fixed rate from an event to its report rows. `latency.c` says what is timed."""

import pathlib
import shutil
import statistics
import subprocess
import time

from measuring import Failure
from programs import PARTITIONS, Application

SOURCE = pathlib.Path(__file__).parent / "latency.c"
COMMIT_INTERVALS = {"1s": 1_000, "100ms": 100}
READY_SECONDS = 60
# By as much may the rate be missed before it is another measurement.
RATE_TOLERANCE = 0.02


def build(bench):
    """Compiles the sender and reader; returns why it cannot be, or None."""
    if not shutil.which("gcc"):
        return "gcc is missing"
    built = subprocess.run(
        ["gcc", "-O2", "-o", bench.folder / "latency", SOURCE, "-lrdkafka", "-lpthread"], stderr=subprocess.PIPE)
    return None if built.returncode == 0 else "gcc: " + built.stderr.decode(errors="replace").strip().split("\n")[-1]


def measure(bench, stream, rate, warm_up, seconds):
    """One measurement for each commit interval. The events are the first of the stream, all with the same state to begin with: none."""
    seconds = min(seconds, stream.events / rate - warm_up)
    if seconds < 1:
        raise Failure(f"the stream has {stream.events} events, too few for {rate} a second: take more users, or a lower rate")
    return [measure_one(bench, stream, interval, rate, warm_up, seconds) for interval in COMMIT_INTERVALS]


def measure_one(bench, stream, interval, rate, warm_up, seconds):
    topic = bench.new_name()
    application = Application(bench, topic, commit_interval=interval)
    wait_until_ready(application)
    sender = bench.measure(
        bench.folder / "latency", bench.servers, topic, f"{application.name}.reports", PARTITIONS, stream.file, rate, warm_up, seconds)
    sender_took = sender.end()
    took = application.end()
    sent, sending_seconds = (float(part.split("=")[1]) for part in sender.log.read_text().split()[-2:])
    return {
        "commit_interval": interval,
        "commit_interval_ms": COMMIT_INTERVALS[interval],
        "rate": rate,
        "achieved_rate": round(sent / sending_seconds),
        "seconds": seconds,
        "warm_up_seconds": warm_up,
        **percentiles([float(line) for line in sender.output.read_text().split()]),
        # Of the whole time, the sender's processor time taken out.
        "run_cpu_seconds_per_million": round(took["cpu_seconds"] / sent * 1e6, 2),
        "other_cores": round(max(0.0, took["other_cores"] - sender_took["cpu_seconds"] / took["seconds"]), 2),
    }


def wait_until_ready(application):
    deadline = time.monotonic() + READY_SECONDS
    while not application.is_ready:
        if application.run.is_over or time.monotonic() > deadline:
            raise Failure("run does not get ready:\n" + application.run.tail())
        time.sleep(0.05)


def percentiles(times):
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {
        "markers": len(times),
        "ms": {"min": min(times), "p50": round(cuts[49], 1), "p90": round(cuts[89], 1), "p99": round(cuts[98], 1), "max": max(times)},
    }


def lines(results):
    yield f"From an event to its last report row, readable with read_committed, at {results[0]['rate']:,} events/s:"
    for each in results:
        figures = ", ".join(
            f"{name} {each['ms'][name]:,.0f} ms ({each['ms'][name] / each['commit_interval_ms']:.1f} intervals)" for name in ("p50", "p99"))
        yield f"  commit_interval {each['commit_interval']}: {figures}; {each['markers']:,} markers, others {each['other_cores']:.2f} cores"
        if abs(each["achieved_rate"] / each["rate"] - 1) > RATE_TOLERANCE:
            yield f"    NOTE: the rate was {each['achieved_rate']:,} events/s"
