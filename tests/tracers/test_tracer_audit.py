"""Auditing: on before the workload starts, off again whatever happens, and never on a host.

auditctl is a fake, which keeps a kernel's state in a folder and records how it was called.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.project import on_the_path
from helpers.needs import needs
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key, Sample, UsageError
from probe_effect.records import TOOLS
from probe_effect.tracers.dormant import ONLY_INSIDE, Audit
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import at_path, known_tracers

HERE = Path(__file__).parents[1]
SUITE = HERE.parent / "data" / "suites" / "audit"
FAKE_WORKLOAD = HERE / "fakes" / "workload"

AUDITCTL = """\
#!/bin/sh
# The kernel's state: files in $FAKE_AUDIT, each with a line. `broken` is a word that fails.
cd "$FAKE_AUDIT" || exit 1
echo "$*" >> calls
[ "$(cat broken 2>/dev/null)" = "$1" ] && { echo "Operation not permitted" >&2; exit 4; }
case $1 in
-v) echo "auditctl version 3.0.9" ;;
-s) printf 'enabled %s\\nlost %s\\nloginuid_immutable 0 unlocked\\n' "$(cat enabled)" "$(cat lost)" ;;
-l) cat rules ;;
-D) : > rules ;;
-b) ;;
-e) echo "$2" > enabled ;;
-R) sed -n 's/^-e //p' "$2" | tail -n 1 > enabled; grep '^-a' "$2" > rules || true
    [ -e drops ] && echo 7 > lost; true ;;
esac
"""
RULES = "# case: a comment.\n\n-e 1\n-a always,exit -S getppid -F uid=1\n-a always,exit -S getppid -F uid=2\n"


class FakeKernel:
    """A folder with auditctl, and the state that it leaves."""

    def __init__(self, root: Path) -> None:
        self.state, self.bin = root / "state", root / "bin"
        self.script = root / "case.audit"
        for folder in (self.state, self.bin):
            folder.mkdir()
        for name, text in {"enabled": "0\n", "rules": "", "lost": "5\n"}.items():
            self.has(name, text)
        (self.bin / "auditctl").write_text(AUDITCTL, encoding="utf-8")
        (self.bin / "auditctl").chmod(0o755)
        self.script.write_text(RULES, encoding="utf-8")

    def has(self, name: str, text: str = "") -> None:
        (self.state / name).write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        path = self.state / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def is_clean(self) -> bool:
        return (self.text("enabled").strip(), self.text("rules")) == ("0", "")

    def run(self, tracer: Audit, workload: Path = FAKE_WORKLOAD) -> Sample:
        load = WorkloadTask(program=workload, operations=500, cpu=NOT_PINNED)
        planned = PlannedRun(0, 0, Key("case", tracer.id), "traced")
        return run_once(planned, load, TracerTask(tracer, self.script, "nothing"), Limits())


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    made = FakeKernel(tmp_path)
    on_the_path(monkeypatch, made.bin)
    monkeypatch.setenv("FAKE_AUDIT", str(made.state))
    return made


def inside() -> Audit:
    return replace(on_a_host(), inside=True)


def on_a_host() -> Audit:
    """The tracer as every command on a real machine has it."""
    found = known_tracers()["audit"]
    assert isinstance(found, Audit)
    return found


def test_on_a_host_nothing_is_ever_run(kernel: FakeKernel) -> None:
    tracer = on_a_host()
    assert (tracer.available(), tracer.version()) == (ONLY_INSIDE, None)
    with pytest.raises(UsageError):
        at_path(tracer, str(kernel.bin / "auditctl"))
    with pytest.raises(TracerFailed, match="with --vm only"):
        tracer.session(kernel.script, "nothing", FAKE_WORKLOAD)
    row = kernel.run(tracer)
    assert (row.status, row.events) == ("failed", None)
    assert "until the next boot" in (row.note or "")
    assert kernel.text("calls") == ""


def test_inside_it_says_its_version(kernel: FakeKernel) -> None:
    tracer = inside()
    assert (tracer.available(), tracer.version()) == (None, "auditctl version 3.0.9")
    assert set(kernel.text("calls").split()) <= {"--version", "-v"}


def test_auditing_is_on_before_the_workload_starts_and_off_after_it(kernel: FakeKernel) -> None:
    session = inside().session(kernel.script, "nothing", FAKE_WORKLOAD)
    assert (kernel.text("enabled"), kernel.text("rules").count("-a")) == ("1\n", 2)
    session.end()
    assert kernel.is_clean
    session.end()


def test_a_run_has_the_events_that_were_made_and_what_the_kernel_lost_meanwhile(kernel: FakeKernel) -> None:
    kernel.has("drops")
    row = kernel.run(inside())
    assert (row.status, row.events, row.seen, row.lost, row.output_bytes) == ("ok", 500, None, 2, None)
    assert kernel.is_clean


def test_a_script_that_switches_it_off_again_is_live_when_it_is_off(kernel: FakeKernel) -> None:
    kernel.script.write_text("-e 1\n-e 0\n", encoding="utf-8")
    assert kernel.run(inside()).status == "ok"
    assert kernel.is_clean


@pytest.mark.parametrize("word", ["-s", "-b", "-R", "-l"])
def test_whatever_fails_is_told_and_auditing_is_off(kernel: FakeKernel, word: str) -> None:
    kernel.has("broken", word)
    row = kernel.run(inside())
    assert (row.status, row.note) == ("failed", f"auditctl {word}: Operation not permitted")
    assert kernel.is_clean


def test_rules_that_are_not_all_there_are_not_live(kernel: FakeKernel) -> None:
    session = inside().session(kernel.script, "nothing", FAKE_WORKLOAD)
    kernel.has("rules", "-a always,exit -S getppid -F uid=1\n")
    assert not session.is_live()
    session.end()


def test_a_workload_that_dies_leaves_auditing_off(kernel: FakeKernel) -> None:
    row = kernel.run(inside(), workload=Path("/bin/false"))
    assert row.status == "failed"
    assert kernel.is_clean


def test_every_script_switches_auditing_on_and_has_as_many_rules_as_its_name_says() -> None:
    scripts = sorted(SUITE.glob("*.audit*"))
    assert scripts
    for script in scripts:
        lines = [line for line in script.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        rules = [line for line in lines if line.startswith("-a always,exit ")]
        assert len(rules) == len(set(rules)), script
        assert "-e 1" in lines, script
        if named := re.fullmatch(r"\d\d-audit-(\d+)-(?:rule|other)s?", script.stem):
            assert len(rules) == int(named[1]), script


def test_a_tool_that_spoils_a_machine_is_not_offered_for_installation() -> None:
    assert [(tool.name, tool.packages) for tool in TOOLS.values() if tool.spoils] == [("audit", ())]


@needs("cc")
def test_the_workload_says_when_its_daemon_ends_and_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditd = tmp_path / "auditd"
    auditd.write_text("#!/bin/sh\nexit 6\n", encoding="utf-8")
    auditd.chmod(0o755)
    program = build(SUITE / "workload" / "call-loop.c", tmp_path / "cache").path
    on_the_path(monkeypatch, tmp_path)
    workload = WorkloadProcess(WorkloadTask(program=program, operations=5, cpu=NOT_PINNED, variant="daemon"))
    try:
        with pytest.raises(WorkloadFailed, match="auditd does not read"):
            workload.go(30.0)
    finally:
        workload.end()
