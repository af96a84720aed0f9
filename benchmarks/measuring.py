"""Processes that are measured from their start to their end, and what there is to say about the machine they run on."""

import itertools
import os
import pathlib
import platform
import re
import resource
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
# The program reads its settings from variables of that prefix, and these are to be the defaults.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}


class Failure(Exception):
    """What is measured did not do what it should."""


def process_seconds(pid):
    """Processor time of a process so far; 0 if there is none of that number."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def machine_seconds():
    """Processor time that all processes of the machine have had, and what a hypervisor took away."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / TICKS


class Moment:
    """The clocks at one time."""

    def __init__(self, broker):
        self.wall = time.monotonic()
        self.machine = machine_seconds()
        self.broker = process_seconds(broker) if broker else 0.0
        own = resource.getrusage(resource.RUSAGE_SELF)
        self.own = own.ru_utime + own.ru_stime


class Measured:
    """A process that runs from now on, and what it took once it has ended."""

    numbers = itertools.count(1)
    begun = []

    def __init__(self, command, folder, broker=None):
        self.command = [str(word) for word in command]
        self.broker = broker
        number = next(self.numbers)
        self.output = folder / f"{number}.out"
        self.log = folder / f"{number}.log"
        self.begin = Moment(broker)
        with open(self.output, "wb") as output, open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=log, env=ENVIRONMENT, cwd=folder)
        self.begun.append(self)

    @property
    def is_over(self):
        # Not `poll`, which would throw away what the process has used.
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def moment(self):
        """The clocks now, and the processor time of the process so far, for work that ends before the process does."""
        now = Moment(self.broker)
        now.process = process_seconds(self.process.pid)
        return now

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()

    @classmethod
    def kill_all(cls):
        """Leaves nothing behind when a measurement breaks off."""
        for each in cls.begun:
            each.kill()

    def end(self, done=None):
        """Waits for the end. Wall clock and other processes are measured until `done`, if that was before.

        The peak of memory is never below what this script has, some 20 MB: Linux counts from before the program was loaded.
        """
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        done = done or self.moment()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode != 0:
            raise Failure(f"{' '.join(self.command)}\nended with {self.process.returncode}:\n" + self.tail())
        seconds = done.wall - self.begin.wall
        broker = done.broker - self.begin.broker
        others = done.machine - self.begin.machine - done.process - broker - (done.own - self.begin.own)
        return {
            "seconds": round(seconds, 3),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
            "cpu_user_seconds": round(usage.ru_utime, 3),
            "peak_bytes": usage.ru_maxrss * 1024,
            "broker_cpu_seconds": round(broker, 2) if self.broker else None,
            # The clocks of the machine count in hundredths of a second.
            "other_cores": round(max(0.0, others) / max(seconds, 0.01), 2),
        }

    def tail(self):
        return "\n".join(self.log.read_text(errors="replace").split("\n")[-20:])


def words(*command):
    """What a command prints, on one line; None if there is no such command or it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode(errors="replace").strip().split("\n")[0]


def machine():
    """What the figures depend on; nothing that names the machine."""
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    processor = re.search(r"^model name\s*: (.*)$", facts, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system = re.search(r'^PRETTY_NAME="(.*)"$', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    return {
        "processor": processor[1] if processor else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "avx512": " avx512f" in facts,
        "memory_bytes": memory,
        "system": system[1] if system else platform.system(),
        "kernel": platform.release().split("-")[0].split("+")[0],
        "load_average": round(os.getloadavg()[0], 2),
    }
