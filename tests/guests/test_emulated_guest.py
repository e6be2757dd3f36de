"""The program inside: it needs nothing but Python and one pure package, and answers each request once."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fakes.project import FakeProject, as_root, on_the_path
from probe_effect.guests import assembly
from probe_effect.guests import guest as module
from probe_effect.guests.guest import GuestRequests, load_message, run_request, serve
from probe_effect.host.compilers import Sysroot
from probe_effect.host.workloads import WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun
from probe_effect.model import Key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ABSENT = "numpy pydantic yaml click rich jinja2"
"""What the guest does not have: packages that need compiled parts, and those that only the host's side needs."""

IMPORT = """\
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split()))
import probe_effect.guests.guest
print(probe_effect.guests.guest.__file__)
"""


def test_what_lies_in_the_guest_needs_no_compiled_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "compile_python", lambda *_: None)
    assembly._program_inside(tmp_path, Sysroot(tmp_path, "x86_64"))
    command = [sys.executable, "-c", IMPORT, ABSENT]
    run = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, str(tmp_path / "probe_effect/guests/guest.py")), run.stderr


class Host:
    """The host's end of the line."""

    def __init__(self, line: socket.socket) -> None:
        self._file = line.makefile("rwb", buffering=0)
        self._number = 0

    def send(self, text: bytes) -> None:
        """Whatever may come over a line."""
        self._file.write(text)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer."""
        self._number += 1
        self.send(json.dumps(request | {"number": self._number}).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._file.readline())
        assert answer["number"] == self._number
        return answer


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    kernel = tmp_path / "kernel"
    (kernel / "proc").mkdir()
    (kernel / "proc/cpuinfo").write_text("model name : a fake\n", encoding="utf-8")
    (kernel / "proc/kallsyms").write_text("secrets", encoding="utf-8")
    return made


@pytest.fixture
def host(project: FakeProject) -> Iterator[Host]:
    """A line with the program inside at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = theirs.makefile("rwb", buffering=0)
        guest = GuestRequests(project.root / "kernel", lambda: project.tracers)
        thread = threading.Thread(target=serve, args=(line, guest))
        thread.start()
        yield Host(ours)
        ours.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_only_the_files_that_say_what_the_machine_is_are_sent(host: Host) -> None:
    assert host.ask({"do": "facts"})["files"] == {"proc/cpuinfo": "model name : a fake\n"}


def test_tracers_say_what_they_lack(host: Host) -> None:
    (found,) = host.ask({"do": "tracers", "words": ["bpftrace"], "needs": ["kprobe", "tracepoint"]})["tracers"]
    assert found["tracer"] == found["tool"] == "bpftrace"
    assert found["version"] == "bpftrace v0.0.0"
    assert found["unavailable"] is None
    assert list(found["lacks"]) == ["kprobe"]


def test_a_fault_is_an_answer_and_the_next_request_is_heard(host: Host) -> None:
    answer = host.ask({"do": "tracers", "words": ["bpftrace=/nonexistent"], "needs": []})
    assert "expected a bpftrace that prints its version" in answer["error"]
    assert "files" in host.ask({"do": "facts"})


def test_noise_on_the_line_is_passed_over(host: Host) -> None:
    host.send(b"[    1.0] a driver speaks\n\xff\xfe\n[1]\n")
    assert "files" in host.ask({"do": "facts"})


def test_a_run_is_made_as_on_any_machine(host: Host, project: FakeProject, tmp_path: Path) -> None:
    program = build(project.suite / "workload" / "loop.c", tmp_path / "cache").path
    load = WorkloadTask(program=program, operations=1000, cpu=-1)
    planned = PlannedRun(2, 5, Key("baseline", "none"), "baseline")
    request = run_request(planned, load, None, Limits())
    request["load"] = load_message(load) | {"program": str(program)}
    row = host.ask(request)["row"]
    assert (row["block"], row["position"], row["status"], row["events"]) == (2, 5, "ok", 1000)


@pytest.mark.parametrize("looking", [True, False])
def test_kprobes_and_runs_of_programs_are_looked_at_only_when_that_is_asked(
    host: Host, project: FakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, looking: bool
) -> None:
    monkeypatch.setattr(module, "mechanism", lambda _: "ftrace")
    project.case("01-control")
    host.ask({"do": "tracers", "words": ["bpftrace"], "needs": []})
    program = build(project.suite / "workload" / "loop.c", tmp_path / "cache").path
    planned = PlannedRun(0, 0, Key("01-control", "bpftrace"), "traced")
    request = run_request(planned, WorkloadTask(program=program, operations=1, cpu=-1), None, Limits(), looking=looking)
    request["load"]["program"] = str(program)
    script = str(project.suite / "01-control.bt")
    request["watch"] = {"tracer": "bpftrace", "script": script, "counting": "nothing", "events_per_operation": 1}
    holder = project.root / "kernel/proc/7"
    (holder / "fdinfo").mkdir(parents=True)
    (holder / "fd").mkdir()
    said = {  # one program by two descriptors; and its link, whose fdinfo is not to be read
        "4": ("prog", "pos:\t0\nprog_id:\t12\nrun_cnt:\t20040\n"),
        "5": ("prog", "pos:\t0\nprog_id:\t12\nrun_cnt:\t20040\n"),
        "6": ("prog", "prog_id:\t13\nrun_cnt:\t2\n"),
        "7": ("link", "prog_id:\t14\nrun_cnt:\t1\n"),
    }
    for name, (sort, text) in said.items():
        (holder / "fd" / name).symlink_to(f"anon_inode:bpf-{sort}")
        (holder / "fdinfo" / name).write_text(text, encoding="utf-8")
    switch = project.root / "kernel/proc/sys/kernel/bpf_stats_enabled"
    switch.parent.mkdir(parents=True)
    switch.write_text("untouched", encoding="utf-8")
    answer = host.ask(request)
    assert answer["row"]["status"] == "ok", answer
    assert answer["mechanism"] == ("ftrace" if looking else None)
    assert answer["program_runs"] == (20042 if looking else None)
    assert switch.read_text(encoding="utf-8") == ("0" if looking else "untouched")
