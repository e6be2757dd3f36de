"""One question has one range and one verdict: on `/advise/`, on the home page, from `advise` and from `predict`."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from probe_effect.advising import script_answer, script_report
from probe_effect.advising.script_answer import RunningSystem, ScriptQuestion, answer_script
from probe_effect.answer import sentences
from probe_effect.answer.answers import answer
from probe_effect.answer.question import Combination, Question, rate_from, tool_script, tracer_of
from probe_effect.costs.actions import may_pay_at_switches
from probe_effect.costs.evidence import evidence_of
from probe_effect.live.count import Target
from probe_effect.live.places import NotHere, Place
from probe_effect.model import HostNotReady, ProbeEffectError
from probe_effect.numbers.shown import facts_of_submission, in_order
from probe_effect.scripts.clauses import matches_many
from probe_effect.scripts.form import NO_EVENTS
from probe_effect.scripts.script import read_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

    from probe_effect.costs.evidence import Evidence
    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.shown import Facts
    from probe_effect.scripts.script import ScriptProbe
    from probe_effect.store.places import DataFolder

pytestmark = [pytest.mark.browser, pytest.mark.site, pytest.mark.deep]

SEED, QUESTIONS = 20_261_125, 200
SCRIPTS = (
    "bpftrace -e 'uprobe:libc:malloc { @[ustack] = count(); }'",
    "uprobe:libc:malloc { @ = count(); }",
    "uprobe:/bin/a:f { @t[tid] = nsecs; } uretprobe:/bin/a:f /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t[tid]); }",
    "uretprobe:/bin/a:f { @ = hist(arg0); }",
    "usdt:/bin/a:request { @ = count(); }",
    "kprobe:vfs_read { @[kstack] = count(); }",
    "kprobe:vfs_* { @[func] = count(); }",
    "fentry:vfs_read { @ = count(); }",
    "tracepoint:syscalls:sys_enter_read { @ = count(); }",
    "tracepoint:syscalls:sys_enter_* { @[comm] = count(); }",
    'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }',
    "tracepoint:syscalls:sys_enter_read /pid == 4711/ { @[comm, pid] = count(); }",
    "t:syscalls:sys_enter_read { @a[tid] = 1; } t:syscalls:sys_exit_read /@a[tid]/ { @ = hist(args.ret); }",
    "rawtracepoint:sys_enter { @[comm] = count(); }",
    "t:sched:sched_switch { @ = count(); } t:syscalls:sys_enter_write { frobnicate(1); }",
    "syscall::read:entry { @[execname] = count(); }",
    "fbt::vfs_read:entry { @ = count(); }",
    "pid4711:libc:malloc:entry { @[ustack()] = count(); }",
    "strace -f -p 4711",
    "strace -c -f -p 4711",
    "perf stat -e syscalls:sys_enter_read -p 4711",
    "perf record -F 99 -g -p 4711",
    "perf record -e syscalls:sys_enter_read -p 4711",
    "perf trace -p 4711",
    "trace-cmd record -p function -l vfs_read",
    "execsnoop-bpfcc -T",
    "opensnoop.bt",
    "watchpoint:0x10:8:w { @ = count(); }",
)
RATES = ("", "10", "900", "2 000", "20k", "300,000", "1.5M")
BYTES = {"emulated": b"\x55", "stepped": b"\x48\x8b\x05\x71\x2b\x00\x00", "called": b"\x0f\x1f\x44\x00\x00"}

ASK = """async asked => {
    const form = document.querySelector("form.advise");
    const put = (field, value) => {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    put(form.elements.script, "BEGIN { }");
    put(form.elements.machine, asked.machine);
    while (form.dataset.state !== "ready") await new Promise(go => setTimeout(go, 2));
    put(form.elements.script, asked.script);
    const each = (name, values) => values.forEach((value, at) => {
        const field = form.querySelector(`#advise-${name}-${at}`);
        if (field && value !== "") put(field, value);
    });
    each("rate", asked.rates);
    each("first", asked.firsts);
    each("many", asked.many);
    const output = form.querySelector("output");
    return {
        text: output.textContent,
        verdict: output.querySelector("strong")?.textContent ?? "",
        slowdown: JSON.parse(output.dataset.slowdown),
    };
}"""


@dataclass(frozen=True)
class Asked:
    """A question: of each probe of a script its rate, first instruction and number of functions, if told."""

    script: str
    machine: str
    rates: tuple[str, ...]
    firsts: tuple[str, ...]
    many: tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """What was answered: a range of slowdowns, and what to do; neither where it is not known."""

    slowdown: Sequence[float | None] | None
    verdict: str | None


@pytest.fixture(scope="module")
def found(catalogue: Catalogue) -> Evidence:
    return evidence_of(catalogue)


@pytest.fixture(scope="module")
def like_home(catalogue: Catalogue) -> Facts:
    """A machine of the home machine's kind that nobody measured."""
    return replace(facts_of_submission(in_order(catalogue.numbers)[0]), machine="nobody's")


def probes_of(asked: str, catalogue: Catalogue) -> list[ScriptProbe]:
    script = tool_script(asked, catalogue.tools) or read_script(asked)
    return [one for one in script.probes if one.kind not in NO_EVENTS]


def questions(catalogue: Catalogue, machines: Sequence[str]) -> list[Asked]:
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    made = []
    for number in range(QUESTIONS):
        script = SCRIPTS[number % len(SCRIPTS)]
        probes = probes_of(script, catalogue)
        rates = [chance.choice(RATES) if one.hz is None else f"{one.hz:g}" for one in probes]
        if chance.random() < 0.7:
            rates = [one or "5k" for one in rates]
        made.append(
            Asked(
                script,
                chance.choice(["", *machines]),
                tuple(rates),
                tuple(
                    chance.choice(["", "", *BYTES]) if "uprobe" in one.kind or "uretprobe" in one.kind else ""
                    for one in probes
                ),
                tuple(chance.choice(["", "40"]) if matches_many(one.attach) else "" for one in probes),
            )
        )
    return made


def of_advise(asked: Asked, catalogue: Catalogue, data: DataFolder, facts: Facts) -> Said:
    """What `probe-effect advise` answers, on a system where the functions begin as they are said to."""
    probes = probes_of(asked.script, catalogue)
    told = {one.attach: (first, many) for one, first, many in zip(probes, asked.firsts, asked.many, strict=True)}

    def places(attach: str, kind: str, *_: object) -> list[Place]:
        ending = attach.partition(":")[2]
        alike = (known for name, known in told.items() if name.endswith(ending))
        first, many = told.get(attach) or next(alike, ("", ""))
        if not first and not many:
            raise NotHere(attach)
        return [Place(kind=kind, name=f"f{at}", first_bytes=BYTES.get(first)) for at in range(int(many or 1))]

    def count(*_: object, **__: object) -> Any:  # noqa: ANN401
        msg = "nothing is counted here"
        raise HostNotReady(msg)

    question = ScriptQuestion(
        text=asked.script,
        target=Target(),
        seconds=1.0,
        budget_ratio=0.01,
        rates_hz={one.attach: rate_from(rate) for one, rate in zip(probes, asked.rates, strict=True) if rate},
        machine=asked.machine or None,
    )
    system = RunningSystem(facts=facts, places=places, count=count, complaint=lambda _: None)
    advice = answer_script(question, data, system).advice
    verdict = script_report.recommendation(advice)
    return Said(advice.slowdown if advice.is_whole else None, verdict or script_report.limits(advice))


def of_predict(asked: Asked, catalogue: Catalogue, found: Evidence, facts: Facts) -> Said | None:
    """What `probe-effect predict` answers; None of what it cannot be asked."""
    script = tool_script(asked.script, catalogue.tools) or read_script(asked.script)
    probes = probes_of(asked.script, catalogue)
    one = probes[0]
    is_plain = len(probes) == len(one.actions) == 1 and not (one.has_filter or one.unknown or matches_many(one.attach))
    if not is_plain or not asked.rates[0] or may_pay_at_switches(script.tracer, script.options):
        return None
    wanted = Combination(one.kind, one.actions[0], rate_from(asked.rates[0]), asked.firsts[0] or None)
    tracer = tracer_of(found, script, None)
    try:
        said = answer(found, Question(combination=wanted, tracer=tracer, machine=asked.machine or None), facts).headline
    except ProbeEffectError:
        return Said(None, None)
    assert said is not None
    return Said(said.forecast.prediction.slowdown, sentences.recommendation(said.forecast))


def same(one: Estimate | Sequence[float | None] | None, shown: dict[str, float | None] | None) -> bool:
    if one is None or shown is None:
        return one is None and shown is None
    pairs = zip(one, (shown["value"], shown["low"], shown["high"]), strict=True)
    return all(a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9) for a, b in pairs)


def agrees(page: dict[str, Any], said: Said) -> bool:
    if said.slowdown is None:
        return page["slowdown"] is None and not page["verdict"] and (said.verdict or "") in page["text"]
    return same(said.slowdown, page["slowdown"]) and page["verdict"] == (said.verdict or "")


def asked_of(page: Page, path: str, some: Sequence[Asked]) -> list[dict[str, Any]]:
    page.goto(path)
    page.focus("form.advise select")
    page.wait_for_selector("form.advise[data-state=ready]")
    return [page.evaluate(ASK, vars(one)) for one in some]


def test_two_hundred_questions_have_one_range_and_one_verdict_wherever_they_are_asked(  # noqa: PLR0917 (fixtures)
    laptop: Page,
    address: str,
    catalogue: Catalogue,
    found: Evidence,
    like_home: Facts,
    real_data: DataFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(script_answer, "read_numbers", lambda _: catalogue)  # which takes a second for each question
    some = questions(catalogue, found.machines)
    shown = asked_of(laptop, f"{address}advise/", some)
    assert asked_of(laptop, address, some) == shown
    wrong = []
    for asked, page in zip(some, shown, strict=True):
        for name, said in (
            ("advise", of_advise(asked, catalogue, real_data, like_home)),
            ("predict", of_predict(asked, catalogue, found, like_home)),
        ):
            if said is not None and not agrees(page, said) and not (name == "predict" and "†" in page["text"]):
                wrong.append(json.dumps([name, vars(asked), page, said.slowdown, said.verdict], ensure_ascii=False))
    assert wrong == []
    assert sum(page["verdict"] != "" for page in shown) > QUESTIONS / 3, "most are answered"
