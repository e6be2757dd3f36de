"""Counting events in what perf writes: a file of counters, statistics over recorded data, and printed system calls."""

import re
from collections.abc import Iterable
from itertools import groupby

from probe_effect.tracers.protocol import TracerFailed

ALL_OF_IT = 100.0

LOST_SAMPLES = re.compile(r"\s*LOST_SAMPLES events:\s+(\d+)")
SECTION = re.compile(r"(?P<event>\S.*) stats:$")
NOT_OURS = ("Aggregated", "dummy")
"""Begin sections of `perf report --stats` that are no event's: the sum, where LOST_SAMPLES are records and not events,
and the event that perf adds for news of processes."""

RECORD_FIELDS = "tid,time,event"
IDLE = re.compile(r"\s*0 ")
"""Begins the line of a sample that a CPU's timer took while nothing ran there: the thread is 0."""
LOST_RECORD = re.compile(r"PERF_RECORD_LOST lost (\d+)$")
LOST_LINE = re.compile(r"LOST (\d+) events!")
RECORDS_PER_CALL = 2
"""perf trace makes one line of two records, of a system call's entry and of its return."""

NO_COMPLAINT = re.compile(r"\s*$|Events (en|dis)abled$|\[ perf record: ")
USAGE = re.compile(r"\s*Usage: |Run 'perf list' ")
"""Begins what perf prints after its complaint: how it is used, on many lines."""


def count_counters(text: str) -> int:
    """Events of all counters in a file of `perf stat -x, -o FILE`.

    Source: perf-stat(1), "CSV FORMAT": value, unit, event, time that it counted, share of the time that it counted.
    Raises: TracerFailed with perf's word when it did not count; ValueError when the text is of another form.
    """
    lines = counters(text)
    if not lines:
        raise ValueError("perf stat wrote no counter")
    return sum(map(_counter, lines))


def counters(text: str) -> list[str]:
    """The lines of such a file, one for each counter that perf opened."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _counter(line: str) -> int:
    try:
        value, _, event, _, share, *_ = line.split(",")
    except ValueError:
        raise ValueError(f"`{line}`, expected a value, its unit, its event, and how long it was counted") from None
    if value.startswith("<"):
        raise TracerFailed(f"perf stat says {value} for {event}")
    if float(share) < ALL_OF_IT:
        raise TracerFailed(
            f"perf stat counted {event} for {share} % of the time, so that its value is an estimate; count fewer events"
        )
    return int(value)


def count_records(lines: Iterable[str]) -> tuple[int, int]:
    """(events recorded while a CPU was not idle, events lost by the records of loss), each record once.

    The lines are those of `perf script --ns -F tid,time,event --show-lost-events`, which prints in the order of time.
    perf record writes some records twice: perf_mmap__push (tools/perf/util/mmap.c) reads the head of the buffer, reads
    it again to know how much to write, and goes on from the first. What the workload recorded between the two reads is
    written again in the next round; where perf is preempted between them that is thousands of records. Both have the
    same nanosecond, so that equal lines are one record.
    """
    seen = lost = 0
    for _, at_once in groupby(lines, key=_time):
        for line in set(at_once):
            if match := LOST_RECORD.search(line):
                lost += int(match[1])
            elif line.strip() and not IDLE.match(line):
                seen += 1
    return seen, lost


def _time(line: str) -> str:
    return line.partition(": ")[0].rpartition(" ")[2]


def kernels_loss(text: str) -> int | None:
    """Events that the kernel dropped, in what `perf report --stats` prints; None when it does not say.

    It is the kernel's own count for each event, read when perf closes it, since Linux 6.0 and perf 6.1
    (PERF_FORMAT_LOST). Records of loss count the same events once more, all but those at the very end: the kernel
    writes such a record with the next event that finds room (kernel/events/ring_buffer.c).
    Raises: ValueError when the text is of another form.
    """
    losses: list[int] = []
    event = None
    for line in text.splitlines():
        if match := SECTION.match(line):
            event = match["event"]
        elif (match := LOST_SAMPLES.match(line)) and event is not None:
            losses.append(0 if event.startswith(NOT_OURS) else int(match[1]))
    if event is None:
        raise ValueError("perf report printed no statistics")
    return sum(losses) if losses else None


def count_calls(lines: Iterable[str]) -> tuple[int, int]:
    """(system calls printed, system calls lost), of what `perf trace` writes about a workload of one thread.

    perf trace counts the records that it lost. A call of which one record was lost is printed all the same, so that
    the sum may be too large by one for each gap.
    """
    seen = lost = 0
    for line in lines:
        if match := LOST_LINE.search(line):
            lost += int(match[1])
        elif line.strip():
            seen += 1
    return seen, -(-lost // RECORDS_PER_CALL)


def complaint(text: str) -> str:
    """perf's own words on its standard error as one line, without its manual and what is no complaint."""
    kept: list[str] = []
    for line in text.splitlines():
        if USAGE.match(line):
            break
        if not NO_COMPLAINT.match(line):
            kept.append(line.strip())
    return " ".join(kept)
