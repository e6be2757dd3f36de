"""An emulated machine that goes wrong: it is started again, its rows stay, and no emulator outlives us.

The emulator is a fake that runs the real program inside on this machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fakes.project import FAKES, FakeProject, as_root, on_the_path, rows
from helpers.rehearsal import rehearse
from helpers.tiers import deep_but
from probe_effect.checks.run import check
from probe_effect.cli import measure_display, measure_settings
from probe_effect.cli.measure import measure as measure_command
from probe_effect.cli.measure_settings import QUICK_BLOCKS, VM_QUICK_BLOCKS
from probe_effect.guests.assembly import Assembly, Wanted
from probe_effect.guests.debian import ARCHITECTURES, KernelImage
from probe_effect.guests.qemu import Emulator, Image, KvmUnusable
from probe_effect.guests.testbed import LOSSES, EmulatedMachine
from probe_effect.host import ROOT, this_machine, usable_cpus
from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.workloads import build
from probe_effect.measure.one_run import Interrupted
from probe_effect.measure.request import choose_suites, resolve
from probe_effect.measure.run import measure, resume
from probe_effect.measure.submission import reopen, unfinished, work_of
from probe_effect.model import HostNotReady, UsageError
from probe_effect.numbers.names import tier
from probe_effect.records import TOOLS
from probe_effect.store.machine_file import read_machine_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    from probe_effect.host.workloads import WorkloadTask
    from probe_effect.measure.bench import Progress
    from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask
    from probe_effect.measure.request import Work
    from probe_effect.model import Sample
    from probe_effect.store.machine_file import Machine, MachineFile

RELEASE = "6.1.0-50-arm64"


class FakeMachine:
    """A project, and the emulated machine for it."""

    def __init__(self, root: Path) -> None:
        self.project = FakeProject(root)
        self.moments = root / "moments"
        self.moments.mkdir()
        self.said: list[str] = []
        kernel = root / "kernel"
        for name, text in {
            "proc/sys/kernel/osrelease": f"{RELEASE}\n",
            "proc/cpuinfo": "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n",
            "proc/meminfo": "MemTotal: 3041512 kB\n",
            "proc/cmdline": "console=ttyS0 mitigations=off password=secret\n",
            "sys/devices/system/cpu/online": "0-1\n",
            "sys/kernel/debug/kprobes/list": "ffffffff8111  k  vfs_read+0x0    [FTRACE]\n",
        }.items():
            (kernel / name).parent.mkdir(parents=True, exist_ok=True)
            (kernel / name).write_text(text, encoding="utf-8")
        self.config = root / "config"
        self.config.write_text("CONFIG_KPROBES=y\n", encoding="utf-8")

    def goes_wrong(self, moment: str, after: int = 0) -> None:
        """Have the fake guest go wrong once, after so many runs."""
        (self.moments / moment).write_text(str(after), encoding="utf-8")

    def assembly(self) -> Assembly:
        """What it is made of."""
        source = self.project.suite / "workload" / "loop.c"
        program = build(source, self.project.root / "cache")
        os.environ["FAKE_WORKLOADS"] = str(program.path.parent)
        return Assembly(
            Emulator(ARCHITECTURES["arm64"], ("qemu-fake",)),
            Image(self.config, ()),
            {source: CompiledProgram(program.path, "cc fake")},
            {"kernel": "linux-image 6.1 (bookworm)", "bpftrace": "bpftrace 0.17 (bookworm)"},
            self.config,
        )

    def machine(self) -> EmulatedMachine:
        """The testbed. Only a guest that is silent takes as long as it waits; an honest one may be slow."""
        return EmulatedMachine(self.assembly(), [Wanted("bpftrace")], self.said.append, boot_s=20.0, answer_s=8.0)

    def work(self, machine: EmulatedMachine) -> Work:
        """The suite, resolved against the guest's tracers."""
        ((folder, suite),) = choose_suites(self.project.data, ["tiny"])
        return resolve(folder, suite, machine.tracers(), [], 1)

    def measure(self, machine: EmulatedMachine) -> list[Sample]:
        """The rows of a run."""
        with machine:
            return rows(measure(self.work(machine), self.project.settings(), machine, lambda _: None))

    def guests(self) -> list[int]:
        """Process ids of all emulators that were started."""
        return [int(line) for line in (self.moments / "pids").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMachine]:
    made = FakeMachine(tmp_path)
    made.project.case("01-control")
    made.project.case("02-kprobe", 'print: {"type": "map", "data": {"@": 7}}', counted_by="maps")
    on_the_path(monkeypatch, FAKES / "emulator")
    monkeypatch.setenv("FAKE_PYTHON", sys.executable)
    monkeypatch.setenv("FAKE_GUEST", str(made.moments))
    monkeypatch.setenv("FAKE_ROOT", str(tmp_path))
    monkeypatch.setenv("FAKE_WORKLOADS", "")
    as_root(monkeypatch)
    yield made
    if (made.moments / "pids").exists():
        assert not [pid for pid in made.guests() if Path(f"/proc/{pid}").exists()], "an emulator is left"


def test_rows_hold_instructions_and_no_times(fake: FakeMachine) -> None:
    found = fake.measure(fake.machine())
    assert {row.status for row in found} == {"ok"}
    assert all(row.instructions and row.events for row in found)
    times = ("wall_ns", "user_ns", "sys_ns", "tracer_cpu_ns", "attach_ns", "detach_ns")
    assert all(getattr(row, name) is None for row in found for name in times)
    assert all(row.attach_instructions is None for row in found), "what starting takes is counted where it is asked"


def test_the_record_says_what_the_machine_was_made_of(fake: FakeMachine) -> None:
    fake.measure(fake.machine())
    (place,) = fake.project.data.submissions()
    document, problems = read_machine_file(place.machine_file, "")
    assert document is not None, problems
    assert document.run.metric == "instructions"
    assert document.machine.virtualization == "QEMU TCG"
    assert (document.machine.architecture, document.machine.cpu_model) == ("aarch64", "Neoverse-N1")
    assert document.machine.id.startswith("qemu-tcg-2t-linux-6-1-0-50-arm64-")
    assert document.system.kernel_release == RELEASE
    assert document.system.kernel_config == {"CONFIG_KPROBES": "y"}
    assert document.system.boot_flags == ("mitigations=off",)
    assert document.run.mechanisms == {"01-control bpftrace": "ftrace", "02-kprobe bpftrace": "ftrace"}
    assert document.run.packages["bpftrace"] == "bpftrace 0.17 (bookworm)"
    assert document.run.packages["emulator"].startswith(
        "QEMU emulator version 0.0.0 -accel tcg -icount shift=0,sleep=off -machine virt"
    )


@pytest.mark.parametrize("moment", deep_but(["silent", "dies", "panics"], ["silent"]))
def test_a_guest_that_is_lost_is_started_again_and_its_run_made_once_more(fake: FakeMachine, moment: str) -> None:
    fake.goes_wrong(moment, after=6)
    found = fake.measure(fake.machine())
    assert {row.status for row in found} == {"ok"}
    assert len(fake.guests()) == 2
    assert len(fake.said) == 1


@pytest.mark.deep
def test_after_a_tool_that_spoils_the_machine_anything_else_has_another_one(
    fake: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOOLS, "bpftrace", replace(TOOLS["bpftrace"], spoils=True))
    machine, made_in = fake.machine(), []
    run = EmulatedMachine.run

    def noted(
        machine: EmulatedMachine, planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits
    ) -> Sample:
        row = run(machine, planned, load, watch, limits)
        made_in.append((row.arm, fake.guests()[-1]))
        return row

    monkeypatch.setattr(EmulatedMachine, "run", noted)
    fake.measure(machine)
    spoilt: set[int] = set()
    for arm, guest in made_in:
        assert arm == "traced" or guest not in spoilt
        spoilt |= {guest} if arm == "traced" else set()
    changes = sum(before == "traced" and after == "baseline" for (before, _), (after, _) in pairwise(made_in))
    assert len(fake.guests()) == 1 + changes > 2


def test_a_panic_is_told_with_its_fault_and_the_consoles_last_lines(fake: FakeMachine) -> None:
    fake.goes_wrong("panics", after=3)
    fake.measure(fake.machine())
    fault = "BUG: kernel NULL pointer dereference | RIP: 0010:show+0x72/0x90; its console's last lines"
    assert f"its kernel panicked: Kernel panic - not syncing: the fake fell over | {fault}" in fake.said[0]
    assert "[ 1.1] end" in fake.said[0]


def test_a_guest_that_never_comes_up_is_told_with_the_emulators_own_words(fake: FakeMachine) -> None:
    (fake.moments / "refuses").write_text("Could not access KVM kernel module: Permission denied", encoding="utf-8")
    with fake.machine() as machine, pytest.raises(HostNotReady, match="Could not access KVM kernel module"):
        machine.tracers()


@pytest.mark.deep
def test_guests_that_are_lost_one_after_the_other_end_the_run_with_its_rows_kept(fake: FakeMachine) -> None:
    with fake.machine() as machine:
        work = fake.work(machine)

        def from_then_on_dead(progress: Progress) -> None:
            if progress.phase == "measuring" and progress.done == 1:
                (fake.moments / "dies").write_text("always", encoding="utf-8")

        with pytest.raises(HostNotReady, match=f"{LOSSES} guests were lost one after the other"):
            measure(work, fake.project.settings(), machine, from_then_on_dead)
    assert fake.project.rows_on_disk() == 2


def test_a_run_that_is_interrupted_ends_its_emulator_and_is_continued_by_the_same_plan(fake: FakeMachine) -> None:
    done = 0

    def stop_in_the_middle(progress: Progress) -> None:
        nonlocal done
        done += progress.phase == "measuring"
        if done == 4:
            msg = "stopped by SIGINT"
            raise Interrupted(msg)

    with fake.machine() as machine, pytest.raises(Interrupted, match="rows so far are kept"):
        measure(fake.work(machine), fake.project.settings(), machine, stop_in_the_middle)
    assert fake.project.rows_on_disk() == 3
    with fake.machine() as machine:
        (one,) = unfinished(fake.project.results, [], machine)
        work = work_of(one, choose_suites(fake.project.data, []), machine.tracers(), machine)
        settings = fake.project.settings(one.document.run.blocks)
        found = rows(resume(reopen(one, work), work, settings, machine, lambda _: None))
    assert [row.status for row in found] == ["ok"] * 8
    assert not list(fake.project.results.rglob("plan.json"))


def test_a_tracer_that_cannot_run_inside_says_why(fake: FakeMachine) -> None:
    shutil.rmtree(fake.project.root / "kernel/sys/kernel/tracing")
    with fake.machine() as machine:
        assert "tracefs is not mounted" in str(machine.tracers()["bpftrace"].available())


def timed(fake: FakeMachine) -> EmulatedMachine:
    """A machine whose times are taken."""
    machine = fake.machine()
    machine.accelerator = "kvm"
    return machine


def document_of(fake: FakeMachine) -> MachineFile:
    """The record of the one submission."""
    (place,) = fake.project.data.submissions()
    document, problems = read_machine_file(place.machine_file, "")
    assert document is not None, problems
    return document


HOST_CPUS = (1, 0)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """Facts of the host below a guest whose times are taken; a test may change them."""
    facts: dict[str, object] = {"virtualization": None, "governor": "powersave", "turbo": True}
    real = this_machine.collect_machine

    def collected(root: Path = ROOT) -> Machine:
        found = real(root)
        return found.model_copy(update=facts) if root == ROOT else found

    monkeypatch.setattr(this_machine, "collect_machine", collected)
    monkeypatch.setattr(this_machine, "choose_cpus", lambda _root=ROOT: HOST_CPUS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return facts


two_cpus = pytest.mark.skipif(len(usable_cpus()) < 2, reason="a guest's two CPUs need two of the host's")


@two_cpus
@pytest.mark.usefixtures("host")
@pytest.mark.deep
def test_where_no_instructions_are_counted_times_are_what_is_written(fake: FakeMachine) -> None:
    found = fake.measure(timed(fake))
    assert all(row.wall_ns and row.instructions is None for row in found)
    assert document_of(fake).run.metric == "time"
    assert document_of(fake).system.clock_read_ns, "the guest's own clock was read"


@two_cpus
@pytest.mark.usefixtures("host")
def test_a_guest_that_is_timed_boots_as_debian_does_on_hardware(fake: FakeMachine) -> None:
    with timed(fake) as machine:
        machine.tracers()
    words = (fake.moments / "words").read_text(encoding="utf-8")
    for of_counting in ("mitigations", "nokaslr", "nowatchdog", "clocksource", "transparent_hugepage", "-icount"):
        assert of_counting not in words
    assert "-accel\nkvm\n" in words
    assert "prealloc=on,merge=off" in words
    with fake.machine() as machine:
        machine.tracers()
    words = (fake.moments / "words").read_text(encoding="utf-8")
    for of_counting in ("mitigations=off", "nokaslr", "nowatchdog", "transparent_hugepage=never", "-icount"):
        assert of_counting in words
    assert "prealloc" not in words


@two_cpus
@pytest.mark.usefixtures("host")
def test_the_cpu_of_the_workload_has_one_of_the_hosts_to_itself(fake: FakeMachine) -> None:
    before = usable_cpus()
    with timed(fake) as machine:
        machine.tracers()
        (guest,) = fake.guests()
        first, last = map(int, (fake.moments / "cpus").read_text(encoding="utf-8").split())
        where = {int(path.name): os.sched_getaffinity(int(path.name)) for path in Path(f"/proc/{guest}/task").iterdir()}
        with machine.held((1, 0)):
            assert usable_cpus() == {0}, "we ourselves keep away from it"
            with pytest.raises(HostNotReady, match="another measurement is running"), machine.held((1, 0)):
                pass
    assert usable_cpus() == before
    assert where.pop(last) == {1}
    assert where.pop(first) == {0}
    assert all(cpus == {0} for cpus in where.values())


@two_cpus
@pytest.mark.deep
def test_the_record_of_a_timed_guest_has_the_hosts_part_in_it(fake: FakeMachine, host: dict[str, object]) -> None:
    fake.measure(timed(fake))
    found = document_of(fake)
    assert found.machine.id.startswith("neoverse-n1-2t-qemu-kvm-")
    assert (found.machine.virtualization, found.machine.nested) == ("QEMU KVM", False)
    assert (found.machine.governor, found.machine.turbo) == ("powersave", True)
    assert found.run.packages["host"] == f"Linux {os.uname().release}"
    assert tier(found.machine) == "booted guest"
    host["virtualization"] = "KVM"
    with timed(fake) as machine:
        inside = machine.machine()
    assert inside.nested
    assert tier(inside) == "nested virtual machine"


@two_cpus
@pytest.mark.usefixtures("host")
@pytest.mark.deep
def test_the_time_that_the_workload_waited_for_the_host_is_steal_as_the_guest_tells_it(fake: FakeMachine) -> None:
    readings = iter(["cpu1 10 0 0 80 0 0 0 10 0 0\n", "cpu1 60 0 0 110 0 0 0 30 0 0\n"])

    def told(progress: Progress) -> None:
        if (progress.phase, progress.done) in {("calibrating", 0), ("measuring", 1)}:
            (fake.project.root / "kernel/proc/stat").write_text(next(readings), encoding="utf-8")

    with timed(fake) as machine:
        measure(fake.work(machine), fake.project.settings(), machine, told)
    assert document_of(fake).run.steal_ratio == pytest.approx(0.2)


@two_cpus
@pytest.mark.usefixtures("host")
@pytest.mark.deep
def test_a_guest_with_which_the_hardware_does_not_go_on_is_lost_at_once(fake: FakeMachine) -> None:
    """QEMU stands still then, and does not end: without its own words we would wait for minutes."""
    fake.goes_wrong("stands", after=6)
    machine = timed(fake)
    machine.answer_s = 600.0
    found = fake.measure(machine)
    assert {row.status for row in found} == {"ok"}
    (said,) = fake.said
    assert "the hardware does not go on with it; KVM internal error. Suberror: 1; emulation failure" in said


@pytest.fixture
def command(fake: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command line, with packages that are there already."""
    kernel = KernelImage(fake.config, fake.config, "vmlinuz-mine 1f")
    monkeypatch.setattr(measure_settings, "find_kernel", lambda *_: kernel)
    monkeypatch.setattr(measure_settings, "assemble", lambda *_, **__: fake.assembly())
    monkeypatch.setattr(measure_display, "leftovers", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(fake.project.root / "cache"))
    data = str(fake.project.data.root)

    def run(*words: str) -> Result:
        machine = ("--vm", "/home/me/vmlinuz-mine", "--arch", "arm64")
        return CliRunner().invoke(measure_command, [*words, *machine, "--data", data])

    return run


def test_the_command_writes_a_submission_that_check_accepts(fake: FakeMachine, command: Callable[..., Result]) -> None:
    result = command("tiny", "--tracer", "bpftrace", "--quick", "--seed", "3")
    assert result.exit_code == 0, result.output
    (place,) = fake.project.data.submissions()
    assert not [one for one in check([place.folder], fake.project.data) if one.severity == "error"]
    document, _ = read_machine_file(place.machine_file, "")
    assert document is not None
    said = " ".join(document.run.command)
    assert said == "probe-effect measure tiny --vm vmlinuz-mine --arch arm64 --tracer bpftrace --quick --seed 3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["tiny", "--case", "02-kprob"], "02-kprob: no such case; did you mean 02-kprobe", id="case"),
        pytest.param(
            ["tiny", "--case", "03-elsewhere"], "03-elsewhere: a case of another architecture", id="elsewhere"
        ),
        pytest.param(["tinny"], "tinny: no such suite; did you mean tiny?", id="suite"),
        pytest.param(
            ["tiny", "--tracer", "bpftrase"], "bpftrase: in an emulated machine a tracer is named", id="tracer"
        ),
    ],
)
def test_a_name_that_is_none_is_told_before_anything_is_fetched_or_booted(
    fake: FakeMachine,
    command: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    fake.project.case("03-elsewhere", architectures=["x86_64"])

    def is_begun(*_: object, **__: object) -> None:
        pytest.fail("a machine was begun for a name that is none")

    for step in ("find_kernel", "assemble", "EmulatedMachine"):
        monkeypatch.setattr(measure_settings, step, is_begun)
    told = command(*words).exception
    assert isinstance(told, UsageError)
    assert said in str(told)


def test_the_command_continues_what_was_cut_short_with_the_tracers_that_it_had(
    fake: FakeMachine, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = EmulatedMachine.run
    runs = 0

    def stopped_after_seven(
        machine: EmulatedMachine, planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits
    ) -> Sample:
        nonlocal runs
        runs += 1
        if runs == 8:
            msg = "stopped by SIGINT"
            raise Interrupted(msg)
        return real(machine, planned, load, watch, limits)

    monkeypatch.setattr(EmulatedMachine, "run", stopped_after_seven)
    first = command("tiny", "--tracer", "bpftrace", "--blocks", "2")
    assert isinstance(first.exception, Interrupted)
    assert fake.project.rows_on_disk() == 4
    line = str(first.exception).partition("to go on: ")[2]
    again = CliRunner().invoke(measure_command, shlex.split(line)[2:])
    assert again.exit_code == 0, again.output
    (place,) = fake.project.data.submissions()
    assert [row.status for row in rows(place)] == ["ok"] * 8


def test_to_continue_where_nothing_was_cut_short_is_wrong_usage(command: Callable[..., Result]) -> None:
    result = command("--resume")
    assert isinstance(result.exception, UsageError)
    assert "no run with --vm vmlinuz-mine --arch arm64 was cut short" in str(result.exception)


def test_a_machine_of_another_processor_takes_no_help_of_the_hardware(
    command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_settings, "MACHINE", "x86_64")
    result = command("tiny", "--vm-accel", "kvm")
    assert isinstance(result.exception, UsageError)
    assert "this machine is x86_64, and can only emulate aarch64; name its own by --arch" in str(result.exception)


REFUSAL = "/dev/kvm is for the group kvm"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that is of the guest's processor, and whose KVM is not for us."""
    monkeypatch.setattr(measure_settings, "MACHINE", "aarch64")
    monkeypatch.setattr(measure_settings, "trouble", lambda: REFUSAL)


@pytest.mark.usefixtures("refused")
@pytest.mark.deep
def test_where_kvm_cannot_be_used_the_command_says_why_and_counts(
    fake: FakeMachine, command: Callable[..., Result]
) -> None:
    result = command("tiny", "--tracer", "bpftrace", "--quick", "--vm-accel", "kvm")
    assert result.exit_code == 0, result.output
    assert f"no times from a guest here: {REFUSAL}" in result.output
    assert "counting its instructions instead" in result.output
    found = document_of(fake)
    assert (found.run.metric, found.run.blocks) == ("instructions", VM_QUICK_BLOCKS)
    assert "--vm-accel" not in found.run.command


@pytest.mark.deep
def test_where_a_guest_of_kvm_never_comes_up_the_command_counts_too(
    fake: FakeMachine, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_settings, "MACHINE", "aarch64")
    monkeypatch.setattr(measure_settings, "trouble", lambda: None)
    machine = EmulatedMachine.__enter__
    (fake.moments / "refuses").write_text("Could not access KVM kernel module: Permission denied", encoding="utf-8")

    def entered(self: EmulatedMachine) -> EmulatedMachine:
        if self.accelerator == "tcg":
            (fake.moments / "refuses").unlink()
        return machine(self)

    monkeypatch.setattr(EmulatedMachine, "__enter__", entered)
    result = command("tiny", "--tracer", "bpftrace", "--quick", "--vm-accel", "kvm")
    assert result.exit_code == 0, result.output
    assert "Could not access KVM kernel module" in result.output
    assert document_of(fake).run.metric == "instructions"


@pytest.mark.usefixtures("refused")
def test_times_are_never_continued_by_counts(command: Callable[..., Result]) -> None:
    result = command("--resume", "--vm-accel", "kvm")
    assert isinstance(result.exception, KvmUnusable)


@two_cpus
@pytest.mark.usefixtures("host")
@pytest.mark.deep
def test_times_are_taken_in_as_many_blocks_as_on_a_real_machine_and_those_of_a_rehearsal_are_refused(
    fake: FakeMachine, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_settings, "MACHINE", "aarch64")
    rehearse(monkeypatch)
    result = command("tiny", "--tracer", "bpftrace", "--quick", "--vm-accel", "kvm")
    assert result.exit_code == 0, result.output
    found = document_of(fake)
    assert found.run.blocks == QUICK_BLOCKS
    assert (found.run.load_before, found.run.load_after) == (None, None)
    assert list(found.run.command)[3:8] == ["--vm", "vmlinuz-mine", "--arch", "arm64", "--vm-accel"]
    (place,) = fake.project.data.submissions()
    errors = [one.message for one in check([place.folder], fake.project.data) if one.severity == "error"]
    assert len(errors) == 1
    assert "times of an emulated CPU" in errors[0]


def test_a_suite_whose_workload_needs_a_library_is_left_out_or_refused(
    fake: FakeMachine, command: Callable[..., Result]
) -> None:
    text = (fake.project.suite / "suite.toml").read_text(encoding="utf-8")
    with_library = text.replace('operation = "nothing"', 'operation = "nothing"\nlibraries = ["lttng-ust"]')
    (fake.project.suite / "suite.toml").write_text(with_library, encoding="utf-8")
    result = command("tiny")
    assert isinstance(result.exception, HostNotReady)
    assert "suite tiny cannot run in an emulated machine: it needs lttng-ust" in str(result.exception)
