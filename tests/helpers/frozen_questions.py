"""Four hundred questions with the answers that they had, of fixed submissions: whoever changes an answer sees which.

`PYTHONPATH=tests python -m helpers.frozen_questions` answers them again and writes the answers down.
With `--ask` it draws the questions too, of the submissions that are in `data/results` now.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from helpers.builders import PROJECT, REAL_DATA
from probe_effect.answer.advice import Thread, advise
from probe_effect.answer.answers import answer
from probe_effect.answer.question import (
    ANY_THREAD,
    QUESTIONS,
    Combination,
    ProbeQuestion,
    Question,
    groups,
    tool_script,
    tool_scripts,
    tracer_of,
)
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.row import SAMPLED
from probe_effect.costs.table import ProbeGroup
from probe_effect.model import ProbeEffectError
from probe_effect.numbers.catalogue import read_numbers, read_sources
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.scripts.form import NO_EVENTS
from probe_effect.scripts.script import read_script
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.transcripts import read_tools, tool_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.costs.evidence import Evidence
    from probe_effect.costs.row import CostRow
    from probe_effect.model import Estimate
    from probe_effect.numbers.shown import Facts
    from probe_effect.store.transcripts import ToolPackage

FILE = PROJECT / "tests" / "data" / "frozen_questions.json"
SEED, COUNT, DIGITS = 20_261_127, 400, 6
USER_PROBES = {"uprobe", "uretprobe"}
MECHANISMS = (None, "emulated", "stepped", "called", "ftrace", "jump", "trap")
KINDS = """tracepoint tracepoint-entry tracepoint-return raw-tracepoint kprobe kretprobe fentry fexit uprobe uretprobe
usdt profile software hardware system-call function-tracer function-graph""".split()
ACTIONS = """nothing filter count count-by-pid count-by-name count-by-pid-and-name count-by-string
count-by-kernel-stack count-by-user-stack histogram histogram-of-time print record record-stack""".split()
SCRIPTS = (
    *(script for group in QUESTIONS.values() for script in group.values()),
    "uprobe:/bin/a:f { @t[tid] = nsecs; } uretprobe:/bin/a:f /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t[tid]); }",
    "usdt:/bin/a:request { @ = count(); }",
    "kprobe:vfs_read { @[kstack] = count(); }",
    "fentry:vfs_read { @ = count(); }",
    'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }',
    "tracepoint:syscalls:sys_enter_read /pid == 4711/ { @[comm, pid] = count(); }",
    "t:syscalls:sys_enter_read { @a[tid] = 1; } t:syscalls:sys_exit_read /@a[tid]/ { @ = hist(args.ret); }",
    "t:sched:sched_switch { @ = count(); } t:syscalls:sys_enter_write { frobnicate(1); }",
    "syscall::read:entry { @[execname] = count(); }",
    "pid4711:libc:malloc:entry { @[ustack()] = count(); }",
    "strace -c -f -p 4711",
    "perf stat -e syscalls:sys_enter_read -p 4711",
    "perf record -F 99 -g -p 4711",
    "perf trace -p 4711",
    "py-spy record -r 100 -p 4711",
    "trace-cmd record -p function -l vfs_read",
)
RATES_HZ = (10.0, 99.0, 2_000.0, 20_000.0, 100_000.0, 1_500_000.0)


class Frozen:
    """What the questions are put to: the costs of fixed submissions, and a machine like theirs that nobody measured."""

    def __init__(self, runs: Sequence[str]) -> None:
        data = DataFolder(REAL_DATA, kept=Kept(PROJECT / "build" / "kept"))
        folders = [SubmissionFolder(data.results / run) for run in runs]
        catalogue = read_numbers(data, folders)
        self.costs: Evidence = evidence_of(catalogue, partial(read_sources, data))
        newest = next(one for one in catalogue.numbers.submissions if one.metric == "time")
        self.nobody: Facts = replace(facts_of_submission(newest), machine="", name="")
        self.tools: list[ToolPackage] = [
            tools for path in tool_files(data) if (tools := read_tools(path, data.relative(path))[0]) is not None
        ]

    def ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The answer as JSON has it; None where there is none."""
        try:
            return self._predict(question) if "cases" in question else self._advise(question)
        except ProbeEffectError:
            return None

    def _predict(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        wanted = asked.get("combination")
        question = Question(
            probes=tuple(ProbeQuestion(case, rate_hz) for case, rate_hz in asked["cases"]),
            combination=Combination(**wanted) if wanted else None,
            tracer=asked["tracer"],
            machine=asked["machine"],
            threads=asked.get("threads", 1),
            busy_ratio=asked.get("busy_ratio", 1.0),
            calls_hz=asked.get("calls_hz"),
        )
        headline = answer(self.costs, question, self.nobody).headline
        if headline is None:
            return None
        one = headline.forecast
        return {"probes": list(map(_part, one.parts)), "slowdown": _ends(one.prediction.slowdown)}

    def _advise(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "script" in asked:
            text = asked["script"]
            script = tool_script(text, self.tools) or read_script(text)
            tracer = asked["tracer"] or tracer_of(self.costs, script, None)
            some = []
            for at, group in enumerate(groups(script)):
                rate_hz = group.rate_hz or next(iter(asked["rates_hz"][at:]), None)
                rates_hz = None if rate_hz is None else {ANY_THREAD: rate_hz}
                mechanism = next(iter(asked["mechanisms"][at:]), None)
                some.append(replace(group, mechanism=mechanism, matched=1, rate_hz=rate_hz, rates_hz=rates_hz))
        else:
            tracer = asked["tracer"]
            some = [
                ProbeGroup(
                    **one | {"actions": tuple(one["actions"]), "unknown": tuple(one.get("unknown", ()))},
                    attach=f"{one['kind']}-{at}",
                    rates_hz={ANY_THREAD: one["rate_hz"]},
                )
                for at, one in enumerate(asked["probes"])
            ]
        busy = Thread(tid=ANY_THREAD, pid=ANY_THREAD, name="", busy_ratio=1.0)
        calls = {} if asked.get("calls_hz") is None else {ANY_THREAD: asked["calls_hz"]}
        said = advise(
            self.costs, self.nobody, tracer, some, [busy], calls_hz=calls, budget_ratio=0.01, machine=asked["machine"]
        )
        parts = {one.group.attach: one.part for one in said.probes}
        return {
            "probes": [_part(parts[one.attach]) for one in some],
            "slowdown": _ends(said.slowdown) if said.is_whole else None,
        }


def _part(part: CostRow | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {"cost": _ends(part.cost), "basis": part.basis, "machines": list(part.machines), "note": part.note}


def _ends(found: Estimate | None) -> list[float | None] | None:
    return found and [None if end is None else float(f"{end:.{DIGITS}g}") for end in found]


def drawn(frozen: Frozen) -> list[dict[str, Any]]:
    """The questions: of each probe, action, mechanism, tracer and machine some, and most of them with an answer."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    found = frozen.costs
    machines = [None, None, *found.machines]
    made: list[dict[str, Any]] = []

    def take(some: Iterator[dict[str, Any]], count: int, *, refused: int) -> None:
        unanswered = 0
        until = len(made) + count
        for one in some:
            said = frozen.ask(one)
            is_told = said is not None and None not in said["probes"]
            if one not in made and (is_told or unanswered < refused):
                unanswered += not is_told
                made.append(one)
            if len(made) == until:
                return

    every = list(product(found.tracers, KINDS))
    chance.shuffle(every)
    take(_combinations(chance, machines, every), 170, refused=25)
    take(_several(chance, machines, every), 80, refused=15)
    take(_of_cases(chance, machines, found), 50, refused=5)
    take(_of_scripts(chance, machines, frozen), COUNT - len(made), refused=20)
    return made


def _combinations(
    chance: random.Random, machines: Sequence[str | None], every: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    while True:
        for tracer, kind in every:
            is_user = kind in USER_PROBES
            mechanism = chance.choice(MECHANISMS[:4]) if is_user else chance.choice((None, None, *MECHANISMS[4:]))
            wanted = {
                "probe": kind,
                "action": chance.choice(ACTIONS),
                "rate_hz": chance.choice(RATES_HZ),
                "mechanism": mechanism if is_user or kind in {"kprobe", "kretprobe"} else None,
                "frames": chance.choice((None, 20, 127)) if kind == SAMPLED else None,
            }
            threads, busy = chance.choice((1, 1, 1, 2, 4)), chance.choice((1.0, 1.0, 0.4))
            more = {"threads": threads, "busy_ratio": busy, "machine": chance.choice(machines)}
            yield {"cases": [], "combination": wanted, "tracer": tracer, **more}


def _several(
    chance: random.Random, machines: Sequence[str | None], every: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    while True:
        for tracer, kind in every:
            others = [other for used, other in every if used == tracer]
            probes = [
                {
                    "kind": one,
                    "actions": chance.sample(ACTIONS, chance.choice((1, 1, 2, 3))),
                    "mechanism": chance.choice(MECHANISMS[:4]) if one in USER_PROBES else None,
                    "has_filter": chance.random() < 0.3,
                    "unknown": ["frobnicate(1)"] if chance.random() < 0.1 else [],
                    "rate_hz": chance.choice(RATES_HZ),
                    "frames": chance.choice((None, 60)) if one == SAMPLED else None,
                }
                for one in (kind, *chance.sample(others, chance.choice((0, 0, 1, 2))))
            ]
            calls = chance.choice((None, 0.0, 80_000.0))
            yield {"probes": probes, "tracer": tracer, "machine": chance.choice(machines), "calls_hz": calls}


def _of_cases(chance: random.Random, machines: Sequence[str | None], found: Evidence) -> Iterator[dict[str, Any]]:
    keys = sorted(found.keys)
    while True:
        machine, tracer, case = chance.choice(keys)
        others = [key[2] for key in keys if key[:2] == (machine, tracer)]
        cases = [case, *chance.sample(others, chance.choice((0, 0, 1)))]
        yield {
            "cases": [[one, chance.choice(RATES_HZ)] for one in dict.fromkeys(cases)],
            "tracer": tracer,
            "machine": chance.choice((machine, None, chance.choice(machines))),
            "threads": chance.choice((1, 2, 8)),
            "calls_hz": chance.choice((None, None, 50_000.0)),
        }


def _of_scripts(chance: random.Random, machines: Sequence[str | None], frozen: Frozen) -> Iterator[dict[str, Any]]:
    texts = [*SCRIPTS, *(name for name in tool_scripts(frozen.tools) if " " not in name)]
    chance.shuffle(texts)
    while True:
        for text in texts:
            script = tool_script(text, frozen.tools) or read_script(text)
            probes = [one for one in script.probes if one.kind not in NO_EVENTS]
            yield {
                "script": text,
                "tracer": None,
                "machine": chance.choice(machines),
                "rates_hz": [chance.choice(RATES_HZ) for _ in probes],
                "mechanisms": [chance.choice(MECHANISMS[:4]) if one.kind in USER_PROBES else None for one in probes],
                "calls_hz": chance.choice((None, 40_000.0)),
            }


def written(document: dict[str, Any]) -> str:
    """The file's text: a question a line."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in document["questions"])
    runs = ",\n".join(map(json.dumps, document["runs"]))
    return f'{{"runs": [\n{runs}\n], "questions": [\n{lines}\n]}}\n'


def main() -> None:
    """Answer the questions again, or draw them too."""
    if "--ask" in sys.argv:
        data = DataFolder(REAL_DATA)
        runs = [str(one.folder.relative_to(data.results)) for one in data.submissions()]
        frozen = Frozen(runs)
        questions = drawn(frozen)
    else:
        document = json.loads(FILE.read_text(encoding="utf-8"))
        runs, frozen = document["runs"], Frozen(document["runs"])
        questions = [{key: value for key, value in one.items() if key != "answer"} for one in document["questions"]]
    answered = [one | {"answer": frozen.ask(one)} for one in questions]
    FILE.write_text(written({"runs": runs, "questions": answered}), encoding="utf-8")


if __name__ == "__main__":
    main()
