"""What another user of the machine, or whatever runs in a guest, has made: root does not run it, write to it or end it.

Each test is an attack that was shown to work once.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, as_root, on_the_path, rows, wait_until
from guests.test_emulated_machine import FakeMachine
from helpers.builders import PRINTS_ITS_WORDS
from probe_effect.cli import commands
from probe_effect.cli.output import plain
from probe_effect.guests.anatomy import _unpacked
from probe_effect.guests.qemu import GuestLost
from probe_effect.guests.testbed import EmulatedMachine
from probe_effect.host.ownership import stranger
from probe_effect.host.processes import SHARED_MEMORY, STARTED_AS, STARTED_BY, WORK_PREFIX, mark
from probe_effect.host.symbols import code_at, find_function, matching_functions
from probe_effect.host.workloads import build
from probe_effect.live.loaded import holders
from probe_effect.live.places import static_probes
from probe_effect.live.target import stopped, threads_of
from probe_effect.measure import testbed
from probe_effect.measure.one_run import Interrupted
from probe_effect.measure.testbed import LOCK, leftovers, measurement_lock, put_back, state_file
from probe_effect.model import HostNotReady, ProbeEffectError, UsageError
from probe_effect.site.assemble import processes
from probe_effect.site.build import index_site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.guests.guest import Message
    from probe_effect.measure.bench import Progress
    from probe_effect.store.places import SubmissionFolder

NOBODY = 65534
NO_PROCESS = 4_194_305
"""No system gives out such an id: the most is 2^22."""


def can_give_away() -> bool:
    """Whether we can make files of another user's: root of a namespace of users cannot either."""
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.chown(file.name, NOBODY, NOBODY)
        except OSError:
            return False
    return True


as_real_root = pytest.mark.skipif(not can_give_away(), reason="only root can make files of another user's")
pytestmark = pytest.mark.xdist_group("leftovers")


def given_away(*paths: Path) -> None:
    """Have everything below these paths be another user's."""
    for path in paths:
        for one in (path, *path.rglob("*")):
            os.chown(one, NOBODY, NOBODY, follow_symlinks=False)


def run(*words: str) -> Result:
    return CliRunner().invoke(commands, list(words), standalone_mode=False)


def refusal_of(*words: str) -> str:
    """Why a command is refused, in its own words."""
    error = run(*words).exception
    assert isinstance(error, UsageError | HostNotReady), error
    return str(error)


# Whose is it?


@pytest.mark.parametrize("mode", [0o777, 0o772, 0o1777])
def test_what_everybody_may_write_is_not_ours(tmp_path: Path, mode: int) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(mode)
    assert str(stranger(tmp_path / "folder")).endswith("folder may be written by everybody")


def test_what_is_ours_in_a_folder_where_each_replaces_only_his_own_is_ours(tmp_path: Path) -> None:
    (tmp_path / "like-tmp" / "own").mkdir(parents=True)
    (tmp_path / "like-tmp").chmod(0o1777)
    assert stranger(tmp_path / "like-tmp" / "own") is None


def test_what_is_not_there_is_nobody_elses(tmp_path: Path) -> None:
    assert stranger(tmp_path / "absent" / "deeper") is None


def test_a_link_of_ours_leads_to_where_another_look_is_taken(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose").chmod(0o777)
    (tmp_path / "link").symlink_to("loose")
    (tmp_path / "absolute").symlink_to(tmp_path / "loose")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("link", "absolute"):
        assert str(stranger(tmp_path / name / "file")).endswith("loose may be written by everybody")
    assert "links" in str(stranger(tmp_path / "circle"))


@as_real_root
def test_a_way_through_the_folder_of_another_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "ours").mkdir(parents=True)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    assert stranger(tmp_path / "theirs" / "ours") == f"{tmp_path}/theirs belongs to nobody (user {NOBODY})"


@as_real_root
def test_a_link_of_another_is_not_ours_wherever_it_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    os.chown(tmp_path / "link", NOBODY, NOBODY, follow_symlinks=False)
    assert "link belongs to" in str(stranger(tmp_path / "link" / "bin"))


@as_real_root
def test_the_owner_of_a_folder_that_was_named_is_meant_too_and_no_third(tmp_path: Path) -> None:
    (tmp_path / "named" / "deep").mkdir(parents=True)
    given_away(tmp_path / "named")
    assert stranger(tmp_path / "named" / "deep", tmp_path / "named") is None
    os.chown(tmp_path / "named" / "deep", 77, 77)
    assert "deep belongs to 77" in str(stranger(tmp_path / "named" / "deep", tmp_path / "named"))


@as_real_root
def test_who_called_sudo_is_one_of_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").mkdir()
    given_away(tmp_path / "theirs")
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    monkeypatch.setenv("SUDO_GID", str(NOBODY))
    assert stranger(tmp_path / "theirs") is None


@as_real_root
def test_who_owns_the_checkout_that_the_program_runs_from_has_us_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = checkout(tmp_path / "theirs")
    given_away(made.root)
    made.data.root.chmod(0o775)
    assert stranger(made.data.root) is not None
    made.root.chmod(0o775)
    monkeypatch.setattr("probe_effect.host.ownership.PROGRAM", made.root)
    assert stranger(made.data.root) is None


@as_real_root
def test_a_group_of_one_is_its_user_and_another_is_not(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o770)
    assert stranger(tmp_path / "folder") is None
    os.chown(tmp_path / "folder", 0, 100)
    assert "may be written by the group" in str(stranger(tmp_path / "folder"))


# A checkout, or a folder of results, that is found


def checkout(folder: Path) -> FakeProject:
    """A small checkout, by what the program knows one."""
    folder.mkdir(parents=True)
    made = FakeProject(folder)
    made.case("plain")
    (folder / "site").mkdir()
    (folder / "site" / "hugo.toml").touch()
    return made


@as_real_root
@pytest.mark.parametrize(
    "words", [["measure", "--dry-run"], ["lend", "--dry-run"], ["build"], ["transcripts"], ["lab", "dd"], ["wanted"]]
)
def test_a_checkout_of_another_above_the_working_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]
) -> None:
    above = tmp_path / "crowd"
    checkout(above)
    given_away(above)
    (above / "admin").mkdir(mode=0o755)
    monkeypatch.chdir(above / "admin")
    text = refusal_of(*words)
    assert f"{above}" in text
    assert "belongs to nobody" in text
    assert "that you mean it" in text or "installed in that checkout" in text


@as_real_root
@pytest.mark.parametrize("words", [["measure", "--dry-run"], ["lend", "--dry-run"], ["advise", "-e", "BEGIN { }"]])
def test_a_folder_of_results_of_another_in_the_working_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]
) -> None:
    made = checkout(tmp_path / "probe-effect-submission")
    given_away(made.root)
    monkeypatch.chdir(tmp_path)
    text = refusal_of(*words)
    assert "belongs to nobody" in text
    assert "--data " in text


@as_real_root
def test_a_checkout_of_another_that_is_named_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_path(monkeypatch)
    made = checkout(tmp_path / "theirs")
    given_away(made.root)
    monkeypatch.setattr("probe_effect.cli.measure_settings.known_tracers", lambda: made.tracers)
    monkeypatch.setattr("probe_effect.tracers.tool.may_trace", lambda _: True)
    found = run("measure", "--dry-run", "--data", str(made.data.root))
    assert found.exception is None, found.exception
    assert "tiny" in found.stdout


@as_real_root
@pytest.mark.parametrize("name", ["tiny/plain.bt", "loop.h", "tiny/workload/loop.c"])
def test_one_file_of_another_among_our_suites_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = checkout(tmp_path / "ours")
    os.chown(made.data.root / "suites" / name, NOBODY, NOBODY)
    monkeypatch.chdir(made.root)
    assert f"{name} belongs to nobody" in refusal_of("measure", "--dry-run")


@as_real_root
def test_nothing_is_kept_in_the_checkout_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = checkout(tmp_path / "theirs")
    given_away(made.root)
    monkeypatch.chdir(made.root)
    run("summarise", "--data", str(made.data.root))
    assert not (made.root / "build").exists()


# A run that was cut short


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("plain")
    monkeypatch.setattr("probe_effect.cli.measure_settings.known_tracers", lambda: made.tracers)
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    return made


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A program that says its version as bpftrace does, and leaves a mark when it runs."""
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\necho bpftrace v9\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def cut_short(project: FakeProject, program: Path) -> SubmissionFolder:
    """A run of two tracers that was stopped, whose plan names the program of the second."""

    def stop(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == 1:
            msg = "stopped by the test"
            raise Interrupted(msg)

    with pytest.raises(Interrupted):
        project.measure(2, stop)
    (place,) = project.data.submissions()
    plan = json.loads(place.plan_file.read_text(encoding="utf-8"))
    plan["programs"] = {"bpftrace-9-0": str(program)}
    plan["subjects"] += [plan["subjects"][0] | {"tracer": "bpftrace-9-0"}]
    place.plan_file.write_text(json.dumps(plan), encoding="utf-8")
    return place


def resume(project: FakeProject, *words: str) -> str:
    return refusal_of("measure", "--resume", "--data", str(project.data.root), *words)


def test_no_program_of_a_plan_is_started_before_all_else_is_as_it_was(project: FakeProject, evil: Path) -> None:
    place = cut_short(project, evil)
    machine = json.loads(place.machine_file.read_text(encoding="utf-8"))
    machine["system"]["os"] = "another system"
    place.machine_file.write_text(json.dumps(machine), encoding="utf-8")
    assert "system.os was another system" in resume(project)
    assert not evil.with_name("pwned").exists()


@as_real_root
def test_a_plan_of_another_is_not_continued(project: FakeProject, evil: Path) -> None:
    place = cut_short(project, evil)
    given_away(place.folder)
    for words in (["measure", "--resume"], ["lend", "--minutes", "1", "--yes"]):
        text = refusal_of(*words, "--data", str(project.data.root))
        assert str(place.folder) in text
        assert "belongs to nobody" in text
    assert not evil.with_name("pwned").exists()


@as_real_root
def test_a_program_of_another_is_not_started_by_a_plan_of_ours_unless_it_is_named(
    project: FakeProject, evil: Path
) -> None:
    cut_short(project, evil)
    given_away(evil)
    text = resume(project)
    assert f"{evil} belongs to nobody" in text
    assert f"--tracer bpftrace={evil} says that you mean it" in text
    assert not evil.with_name("pwned").exists()
    resume(project, "--tracer", f"bpftrace={evil}")
    assert evil.with_name("pwned").exists()


@as_real_root
def test_settings_that_another_wrote_down_are_not_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state_file().parent.mkdir()
    state_file().write_text("{}", encoding="utf-8")
    given_away(state_file())
    with pytest.raises(UsageError, match="belongs to nobody"):
        put_back(lambda _: None)


def test_no_other_file_than_a_setting_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "profile").write_text("before", encoding="utf-8")
    state_file().parent.mkdir(parents=True)
    state_file().write_text(json.dumps({str(tmp_path / "profile"): "after"}), encoding="utf-8")
    put_back(lambda _: None)
    assert (tmp_path / "profile").read_text(encoding="utf-8") == "before"


# The working folder

LEAVES_A_MARK = "import pathlib; pathlib.Path(__file__).with_name('pwned').touch()\n"


def test_no_module_of_the_working_folder_is_imported_by_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "multiprocessing.py").write_text(LEAVES_A_MARK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with processes(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
    assert not (tmp_path / "pwned").exists()


def test_no_module_of_the_working_folder_makes_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pagefind")
    (tmp_path / "pagefind.py").write_text(LEAVES_A_MARK, encoding="utf-8")
    (tmp_path / "site" / "a").mkdir(parents=True)
    for place in (tmp_path / "site", tmp_path / "site" / "a"):
        (place / "index.html").write_text("<html><body data-pagefind-body>words</body></html>", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    index_site(tmp_path / "site")
    assert not (tmp_path / "pwned").exists()
    assert (tmp_path / "site" / "pagefind").is_dir()


# Leftovers that are none


@pytest.fixture
def in_memory() -> Iterator[list[Path]]:
    """Folders in /dev/shm, which are removed at the end."""
    made: list[Path] = []
    yield made
    for path in made:
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("number", ["99999999999", "4294967296", "9" * 40])
def test_a_folder_with_a_number_that_no_process_has_is_passed_over(number: str, in_memory: list[Path]) -> None:
    parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    in_memory.append(Path(tempfile.mkdtemp(prefix=f"{WORK_PREFIX}{number}-", dir=parent)))
    assert not any(str(in_memory[0]) in one.what for one in leftovers())


@as_real_root
def test_a_folder_of_another_is_nobodys_leftover(in_memory: list[Path]) -> None:
    parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    in_memory.append(Path(tempfile.mkdtemp(prefix=f"{WORK_PREFIX}{NO_PROCESS}-", dir=parent)))
    assert any(str(in_memory[0]) in one.what for one in leftovers())
    given_away(in_memory[0])
    assert not any(str(in_memory[0]) in one.what for one in leftovers())


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def left_by(sleepers: list[subprocess.Popen[bytes]], environment: dict[str, str], user: int | None = None) -> list[str]:
    """What is said of a `sleep` with such an environment, and what becomes of it."""
    process = subprocess.Popen(["sleep", "600"], env=os.environ | environment, user=user)  # noqa: S607
    sleepers.append(process)
    wait_until(lambda: Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(b"sleep"))
    said = []
    for one in leftovers():
        if f"process {process.pid} " in one.what:
            said.append(one.what)
            try:
                one.remove()
            except ProbeEffectError as error:
                said.append(str(error))
    return [*said, "ended" if process.poll() is not None else "runs"]


def of_a_dead_run(*command: str) -> dict[str, str]:
    return mark(command) | {STARTED_BY: str(NO_PROCESS)}


def test_what_a_tool_started_in_turn_is_named_and_left_alone(sleepers: list[subprocess.Popen[bytes]]) -> None:
    named, why, state = left_by(sleepers, of_a_dead_run("/bin/sh", "-c", "sleep 600 &"))
    assert named.endswith("(sleep)")
    assert f"kill {sleepers[0].pid}" in why
    assert state == "runs"


def test_what_began_before_its_mark_is_no_leftover(sleepers: list[subprocess.Popen[bytes]]) -> None:
    assert left_by(sleepers, {STARTED_BY: str(NO_PROCESS), STARTED_AS: f"{10**15}/sleep"}) == ["runs"]


@pytest.mark.parametrize("words", [{}, {STARTED_AS: "x/sleep"}, {STARTED_AS: "1/sleep", STARTED_BY: "9" * 30}])
def test_a_mark_that_is_none_is_passed_over(sleepers: list[subprocess.Popen[bytes]], words: dict[str, str]) -> None:
    assert left_by(sleepers, {STARTED_BY: str(NO_PROCESS)} | words) == ["runs"]


@as_real_root
def test_a_process_of_another_user_is_no_leftover(sleepers: list[subprocess.Popen[bytes]]) -> None:
    assert left_by(sleepers, of_a_dead_run("sleep"), NOBODY) == ["runs"]


def test_a_command_of_the_users_bears_no_mark_and_what_it_leaves_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STARTED_BY, str(NO_PROCESS))
    child = stopped(("/bin/sh", "-c", f"env > {tmp_path}/environment"))
    environment = Path(f"/proc/{child.pid}/environ").read_bytes()
    child.send(signal.SIGCONT)  # a stopped program would not hear that it is to end
    child.end()
    assert STARTED_BY.encode() not in environment
    assert STARTED_AS.encode() not in environment


# Names of others

SPEAKS = "\x1b]0;PWNED\x07"
NAMES_ITSELF = "import sys; open('/proc/self/comm', 'w').write(sys.argv[1]); print(flush=True); input()"


def test_the_name_of_a_thread_does_not_speak_to_the_terminal() -> None:
    command = [sys.executable, "-c", NAMES_ITSELF, SPEAKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (thread,) = threads_of([process.pid]).values()
        process.communicate(b"\n")
    assert thread.comm == r"\x1b]0;PWNED\x07"


def test_the_name_of_a_process_that_holds_something_does_not_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.live.loaded.TRACER", re.compile(r"^Pid:\s*(\d+)", re.MULTILINE))
    command = [sys.executable, "-c", NAMES_ITSELF, SPEAKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = {one.pid: one.comm for one in holders().traced}
        process.communicate(b"\n")
    assert found[process.pid] == r"\x1b]0;PWNED\x07"


def test_nothing_that_is_printed_steers_the_terminal() -> None:
    assert plain(f"a\tb\n{SPEAKS}\x9b\u202e") == "a\tb\n" + r"\u001b]0;PWNED\u0007\u009b\u202e"


# Files of others


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A small ELF file."""
    source, made = tmp_path / "small.c", tmp_path / "small.so"
    source.write_text("int one(void) { return 1; } int two(void) { return 2; }", encoding="utf-8")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed: apt install gcc libc6-dev")
    subprocess.run(["gcc", "-shared", "-o", str(made), str(source)], check=True)  # noqa: S607
    return made


def asked_of(path: Path) -> None:
    find_function(path, "one")
    for function in matching_functions(path, "*").values():
        code_at(path, function.offset)
    static_probes(path)


def test_a_sound_library_says_its_functions(library: Path) -> None:
    assert {"one", "two"} <= set(matching_functions(library, "*"))


def test_whatever_befalls_an_elf_file_it_is_read_or_passed_over(library: Path) -> None:
    whole, chance = library.read_bytes(), random.Random(46)  # noqa: S311 (damage, no secret)
    (headers,) = struct.unpack_from("<Q", whole, 0x28)
    for _ in range(300):
        text = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            place = chance.choice([chance.randrange(64), chance.randrange(headers, len(text))])
            text[place] = chance.choice([0, 1, 8, 0x7F, 0xFF, chance.randrange(256)])
        library.write_bytes(text)
        asked_of(library)


def test_names_that_are_said_to_take_more_than_the_file_take_no_memory(library: Path) -> None:
    text = bytearray(library.read_bytes())
    headers, size, count = (
        struct.unpack_from(form, text, at)[0] for form, at in (("<Q", 0x28), ("<H", 0x3A), ("<H", 0x3C))
    )
    for number in range(count):  # each table of names is in no file, and has 2^40 bytes
        at = headers + number * size
        if struct.unpack_from("<I", text, at + 4) == (3,):
            struct.pack_into("<Q", text, at + 0x20, 1 << 40)
    library.write_bytes(text)
    asked_of(library)


# What a guest answers


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmulatedMachine:
    on_the_path(monkeypatch, tmp_path)
    fake = FakeMachine(tmp_path)
    fake.project.case("plain")
    return fake.machine()


def answering(monkeypatch: pytest.MonkeyPatch, answer: Message) -> None:
    monkeypatch.setattr(EmulatedMachine, "_ask", lambda *_: answer)
    monkeypatch.setattr(EmulatedMachine, "_introduced", lambda *_: {"tracers": []})


@pytest.mark.parametrize("name", ["{folder}/written", "../../../../../../../../{folder}/written", "proc/../../written"])
def test_a_guest_writes_no_file_that_it_was_not_asked_for(
    machine: EmulatedMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    release = {"proc/sys/kernel/osrelease": "6.1.0\n"}
    answering(monkeypatch, {"files": release | {name.format(folder=tmp_path): "by the guest", "proc/cmdline": "quiet"}})
    with machine._root() as root:
        assert (root / "proc/cmdline").read_text(encoding="utf-8") == "quiet"
        assert not (root.parent / "written").exists()
    assert not (tmp_path / "written").exists()


def test_a_release_that_leads_elsewhere_is_none(machine: EmulatedMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, {"files": {"proc/sys/kernel/osrelease": "/../../../../tmp/x"}})
    with pytest.raises(HostNotReady, match="expected one such as"), machine._root():
        pass


@pytest.mark.parametrize("answer", [{}, {"files": []}, {"files": {"proc/stat": None, 7: "x"}}, {"files": None}])
def test_an_answer_of_another_form_is_that_of_a_guest_that_is_lost(
    machine: EmulatedMachine, monkeypatch: pytest.MonkeyPatch, answer: Message
) -> None:
    answering(monkeypatch, answer)
    with pytest.raises(ProbeEffectError), machine._root():
        pass


def test_what_a_guest_packed_takes_no_more_memory_than_symbols_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.guests.anatomy.MOST_BYTES", 1 << 20)
    bomb = base64.b85encode(zlib.compress(b"0" * (1 << 24))).decode()
    with pytest.raises(GuestLost, match="more than"):
        _unpacked(bomb)
    for text in ("no base85 \\", base64.b85encode(b"no zlib").decode()):
        with pytest.raises(GuestLost, match="cannot be unpacked"):
            _unpacked(text)


# What is kept compiled


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source, and a compiler that prints its words."""
    program = tmp_path / "bin" / "cc"
    program.parent.mkdir()
    program.write_text(PRINTS_ITS_WORDS, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "loop.c").touch()
    return tmp_path / "loop.c"


@pytest.mark.parametrize("content", [b"", b"words", b"another program of the same length as"])
def test_a_compiled_program_that_was_altered_is_made_again(source: Path, tmp_path: Path, content: bytes) -> None:
    build(source, tmp_path / "cache").path.write_bytes(content)
    assert build(source, tmp_path / "cache").path.read_bytes().startswith(b"-O2 -std=c11")


def test_a_compiled_program_that_is_whole_is_not_made_again(source: Path, tmp_path: Path) -> None:
    first = build(source, tmp_path / "cache").path.stat()
    assert build(source, tmp_path / "cache").path.stat().st_ino == first.st_ino


@as_real_root
def test_a_compiled_program_of_another_does_not_run(source: Path, tmp_path: Path) -> None:
    program = build(source, tmp_path / "cache").path
    given_away(program)
    with pytest.raises(HostNotReady, match=r"belongs to nobody .*; have XDG_CACHE_HOME name"):
        build(source, tmp_path / "cache")


@as_real_root
def test_nothing_is_compiled_in_a_cache_of_another(source: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    given_away(tmp_path / "cache")
    with pytest.raises(HostNotReady, match="cache belongs to nobody"):
        build(source, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("loop"))


# One lock, and a cache that cannot be written


def test_whatever_caches_they_have_the_second_measurement_says_that_there_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a"))
    with testbed.Testbed().held((0, None)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
        with pytest.raises(HostNotReady, match=rf"another measurement .* \(process {os.getpid()}, of "):
            testbed.Testbed().held((0, None)).__enter__()


def test_the_lock_of_whoever_came_first_is_open_to_all(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with measurement_lock(tmp_path):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / LOCK).stat().st_mode & 0o777 == 0o644


@as_real_root
def test_root_takes_the_lock_that_a_user_has_made(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch(mode=0o600)
    given_away(tmp_path / LOCK)
    with measurement_lock(tmp_path):
        pass


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostNotReady, match="remove it"), measurement_lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipe_in_the_place_of_the_lock_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LOCK)
    with measurement_lock(tmp_path):
        pass


def test_without_a_cache_a_measurement_says_so_in_a_sentence(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/no-such-place")
    error = run("measure", "--quick", "--blocks", "1", "--data", str(project.data.root)).exception
    assert isinstance(error, HostNotReady)
    assert error.exit_status == 3
    assert "have XDG_CACHE_HOME name a folder" in str(error)


def test_with_a_cache_again_it_measures(project: FakeProject) -> None:
    assert run("measure", "--quick", "--blocks", "1", "--data", str(project.data.root)).exception is None
    (place,) = project.data.submissions()
    assert {row.status for row in rows(place)} == {"ok"}
