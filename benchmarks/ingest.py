#!/usr/bin/env python3
"""Loads a running `tidemark ingest http`: good senders at full speed, and beside them connections that are idle or trickle.

    INGEST_TOKENS=0123456789abcdef tidemark ingest http -c tidemark.yaml &
    benchmarks/ingest.py --token 0123456789abcdef --pid $! --idle 8000 --trickling 1000

Prints the events per second by the clock and per CPU second of the process, the times of answers, answers by status, and the process's memory.
Each sender repeats a body of its own; the events are as large as those of the connector (some 600 bytes).
"""

import argparse
import collections
import gzip
import json
import os
import resource
import socket
import statistics
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def event(sender, number):
    """An event of the connector's shape."""
    return {
        "event_type": "users.messages.pushnotification.Send", "id": f"{sender:08x}-{number:04x}-4000-8000-0123456789ab", "time": 1767225600 + number,
        "user": {"user_id": f"{(sender * 7919 + number * 104729) % 2**32:024x}", "external_user_id": f"customer-{number}", "device_id": f"device-{sender}-{number}",
                 "timezone": "Europe/Paris"},
        "properties": {
            "app_id": "11111111-2222-4333-8444-555555555555", "campaign_id": "c0ffee00-1111-4222-8333-444444444444", "campaign_name": "Spring sale",
            "message_variation_id": "aaaa1111-0000-4000-8000-000000000001", "message_variation_name": "Variant 1", "platform": "ios",
            "send_id": "66f0aa11bb22cc33dd44ee55", "dispatch_id": f"66f0aa11bb22cc33dd44ee{number % 256:02x}",
        },
    }


def request(options, sender):
    body = json.dumps({"events": [event(sender, number) for number in range(options.events)]}, separators=(",", ":")).encode()
    encoding = ""
    if options.gzip:
        body, encoding = gzip.compress(body), "Content-Encoding: gzip\r\n"
    head = f"POST /currents HTTP/1.1\r\nHost: {options.address}\r\nAuthorization: Bearer {options.token}\r\nContent-Type: application/json\r\n"
    return f"{head}{encoding}Content-Length: {len(body)}\r\n\r\n".encode() + body


def connect(options):
    host, port = options.address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def answer(connection):
    """The status of the next answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split(b" ", 2)[1])


class Sender(threading.Thread):
    """Posts as fast as it is answered."""

    def __init__(self, options, number):
        super().__init__()
        self.options, self.body = options, request(options, number)
        self.statuses, self.times, self.is_ending = collections.Counter(), [], False

    def run(self):
        connection = connect(self.options)
        while not self.is_ending:
            start = time.monotonic()
            connection.sendall(self.body)
            self.statuses[answer(connection)] += 1
            self.times.append(time.monotonic() - start)


class Tricklers(threading.Thread):
    """Connections that send a byte of a head now and then, and begin anew when they are cut off."""

    def __init__(self, options):
        super().__init__(daemon=True)
        self.options, self.cut_off = options, 0
        self.connections = [connect(options) for _ in range(options.trickling)]

    def run(self):
        while self.connections:
            for place, connection in enumerate(self.connections):
                try:
                    connection.send(b"P")
                except OSError:
                    self.cut_off += 1
                    connection.close()
                    self.connections[place] = connect(self.options)
            time.sleep(1)


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid, name):
    return next(int(line.split()[1]) >> 10 for line in open(f"/proc/{pid}/status") if line.startswith(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="127.0.0.1:8080")
    parser.add_argument("--token", required=True)
    parser.add_argument("--pid", type=int, required=True, help="the process of the endpoint")
    parser.add_argument("--senders", type=int, default=16)
    parser.add_argument("--events", type=int, default=100, help="events of a post")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--idle", type=int, default=0, help="connections that say nothing once they have had an answer")
    parser.add_argument("--trickling", type=int, default=0, help="connections that send a byte a second")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    idle = [connect(options) for _ in range(options.idle)]
    probe = f"POST /currents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {options.token}\r\nContent-Length: 0\r\n\r\n".encode()
    for connection in idle:
        connection.sendall(probe)
    for connection in idle:
        assert answer(connection) == 200
    tricklers = Tricklers(options)
    tricklers.start()
    senders = [Sender(options, number) for number in range(options.senders)]
    for sender in senders:
        sender.start()
    time.sleep(1)
    before = [sum(sender.statuses[200] for sender in senders), cpu_seconds(options.pid), time.monotonic()]
    time.sleep(options.seconds)
    after = [sum(sender.statuses[200] for sender in senders), cpu_seconds(options.pid), time.monotonic()]
    for sender in senders:
        sender.is_ending = True
    for sender in senders:
        sender.join()
    events = (after[0] - before[0]) * options.events
    times = sorted(seconds for sender in senders for seconds in sender.times)
    statuses = sum((sender.statuses for sender in senders), collections.Counter())
    print(f"{events / (after[2] - before[2]):,.0f} events/s, {events / (after[1] - before[1]):,.0f} per CPU second of the process")
    print(f"answers {dict(statuses)} in {statistics.median(times) * 1e3:.0f} ms (median), {times[len(times) * 99 // 100] * 1e3:.0f} ms (p99)")
    print(f"memory {memory(options.pid, 'VmRSS:')} MiB, at most {memory(options.pid, 'VmHWM:')} MiB; "
          f"{len(idle)} idle connections, {tricklers.cut_off} slow ones cut off")


if __name__ == "__main__":
    main()
