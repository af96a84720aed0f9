"""Medians, ratios and slopes of what was measured, and how they are printed."""

import json
import statistics

LONG, SHORT = "long", "short"
# Ratios of what was measured in the same round, and which way round they are: above 1, the first is faster.
RATIOS = [
    ("run", "Kafka Streams", "cpu"),
    ("run", "Kafka Streams", "wall"),
    ("run", "plain consumer", "cpu"),
    ("replay", "DuckDB", "cpu"),
    ("replay", "DuckDB", "wall"),
    ("replay --topic", "plain consumer", "wall"),
]
REMARKS = {("plain consumer", "wall"): "its last wait of up to a second included"}
BUSY_CORES = 0.15


def spread(values):
    """Median, least and greatest of some numbers, to five digits."""
    return {
        name: float(f"{value:.5g}") for name, value in
        (("median", statistics.median(values)), ("min", min(values)), ("max", max(values)))}


def rates(one):
    """What one measurement says per event."""
    return {
        "events_per_second": one["events"] / one["seconds"],
        "cpu_seconds_per_million": one["cpu_seconds"] / one["events"] * 1e6,
        "events_per_cpu_second": one["events"] / max(one["cpu_seconds"], 1e-3),
        "peak_bytes": one["peak_bytes"],
        "other_cores": one["other_cores"],
    }


def of(measurements, program, length):
    """The measurements of a program with a stream, by round."""
    return {one["round"]: one for one in measurements if one["program"] == program and one["length"] == length}


def summary(measurements, programs):
    result = {}
    for program in programs:
        all_rates = [rates(one) for one in of(measurements, program, LONG).values()]
        if all_rates:
            result[program] = {key: spread([each[key] for each in all_rates]) for key in all_rates[0]}
    return result


def ratios(measurements):
    """Ratios within a round, because machines change from one minute to the next."""
    result = []
    for first, second, unit in RATIOS:
        key = {"cpu": "events_per_cpu_second", "wall": "events_per_second"}[unit]
        one, other = of(measurements, first, LONG), of(measurements, second, LONG)
        values = [rates(one[turn])[key] / rates(other[turn])[key] for turn in sorted(one.keys() & other.keys())]
        if values:
            result.append({"of": first, "to": second, "per": unit, **spread(values)})
    return result


def slopes(measurements, programs):
    """What an event costs apart from start-up, which two streams that differ in length alone have in common.

    For programs that compile while they run the rest is what that costs, as far as it is over within the shorter stream.
    """
    result = {}
    for program in programs:
        long, short = of(measurements, program, LONG), of(measurements, program, SHORT)
        turns = sorted(long.keys() & short.keys())
        if not turns:
            continue
        figures = {"cpu_seconds_per_million": [], "wall_seconds_per_million": [], "start_cpu_seconds": [], "start_wall_seconds": []}
        for turn in turns:
            events = long[turn]["events"] - short[turn]["events"]
            for name, key in (("cpu", "cpu_seconds"), ("wall", "seconds")):
                per_event = (long[turn][key] - short[turn][key]) / events
                figures[f"{name}_seconds_per_million"].append(per_event * 1e6)
                figures[f"start_{name}_seconds"].append(short[turn][key] - per_event * short[turn]["events"])
        result[program] = {key: spread(values) for key, values in figures.items()}
    return result


def json_text(report):
    """JSON with a line for each measurement, so that two files can be compared by eye and by diff."""
    members = []
    for key, value in report.items():
        if isinstance(value, list) and value:
            value = "[\n  " + ",\n  ".join(json.dumps(each) for each in value) + "\n ]"
        elif isinstance(value, dict) and value:
            value = "{\n  " + ",\n  ".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()) + "\n }"
        else:
            value = json.dumps(value)
        members.append(f" {json.dumps(key)}: {value}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def text(figures, format, scale=1.0):
    """`median (least–greatest)`, or one number where all are the same."""
    median, least, greatest = (format(figures[key] * scale) for key in ("median", "min", "max"))
    return median if least == greatest else f"{median} ({least}–{greatest})"


def thousands(number):
    return f"{round(number, -3):,.0f}" if abs(number) >= 10_000 else f"{number:,.0f}"


def decimals(number):
    return f"{number:.2f}" if abs(number) < 10 else f"{number:.1f}"


def whole(number):
    return f"{number:,.0f}"


def table(head, lines):
    """Columns as wide as they need to be."""
    widths = [max(len(line[place]) for line in [head, *lines]) for place in range(len(head))]
    for line in [head, *lines]:
        first, *rest = line
        yield (first.ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(rest, widths[1:]))).rstrip()


def summary_lines(figures):
    yield "Medians (least–greatest):"
    yield from table(
        ["", "events/s, wall", "CPU s per million", "events per CPU s", "peak MB", "others, cores"],
        [[program,
          text(each["events_per_second"], thousands),
          text(each["cpu_seconds_per_million"], decimals),
          text(each["events_per_cpu_second"], thousands),
          text(each["peak_bytes"], whole, 1e-6),
          text(each["other_cores"], decimals)] for program, each in figures.items()])


def slope_lines(figures):
    yield "Start-up apart, from the difference to a stream with half of the users:"
    yield from table(
        ["", "CPU s per million", "wall s per million", "start-up, CPU s", "start-up, wall s"],
        [[program,
          text(each["cpu_seconds_per_million"], decimals),
          text(each["wall_seconds_per_million"], decimals),
          text(each["start_cpu_seconds"], decimals),
          text(each["start_wall_seconds"], decimals)] for program, each in figures.items()])


def ratio_lines(figures, slope_figures):
    yield "Ratios within a round; above 1, the first is faster:"
    for each in figures:
        unit = "per CPU second" if each["per"] == "cpu" else "by wall clock"
        apart = f", {REMARKS[each['to'], each['per']]}" if (each["to"], each["per"]) in REMARKS else ""
        if each["of"] in slope_figures and each["to"] in slope_figures:
            key = f"{each['per']}_seconds_per_million"
            one, other = (slope_figures[each[name]][key]["median"] for name in ("of", "to"))
            if min(one, other) > 0:
                apart += f"; start-up apart {decimals(other / one)}"
        yield f"  {each['of']} / {each['to']}, {unit}: {text(each, decimals)}{apart}"


def busy_line(measurements):
    """A warning, if other processes had a share of the machine."""
    median = statistics.median(one["other_cores"] for one in measurements)
    worst = max(one["other_cores"] for one in measurements)
    if worst <= BUSY_CORES:
        return None
    return (f"The machine was not idle. Processes that are not part of this used {decimals(median)} cores (median), "
            f"{decimals(worst)} at worst.")
