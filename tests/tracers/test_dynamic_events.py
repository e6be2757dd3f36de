"""Probes on functions: a line of a script becomes an event in tracefs, in a group of our own, and is removed again."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.host import kernel
from probe_effect.host.symbols import library_of
from probe_effect.tracers import dynamic_events
from probe_effect.tracers.dynamic_events import DynamicEvents, DynamicProbe, parse_probe, split_probes
from probe_effect.tracers.protocol import TracerFailed, wait_for_workload

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("tracer")
"""trace-cmd falls over events that come and go while it starts."""

OURS = f"probe_effect_{os.getpid()}"
GONE = 2**22 + 1
"""No process has this id: it is above the largest that Linux gives (PID_MAX_LIMIT)."""

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
FILES = st.one_of(st.none(), st.from_regex(r"[./a-z-]{1,20}", fullmatch=True))
ARGUMENTS = st.from_regex(r"([a-z]+=[+(%)a-z0-9]+( [a-z]+=%[a-z]{2})?)?", fullmatch=True)


@pytest.mark.parametrize(
    ("line", "probe"),
    [
        pytest.param(
            "probe p:read libc:read", DynamicProbe(kind="p", name="read", file="libc", function="read"), id="a library"
        ),
        pytest.param(
            "probe r:nop5 ./user-loop:nop5",
            DynamicProbe(kind="r", name="nop5", file="./user-loop", function="nop5"),
            id="a file",
        ),
        pytest.param(
            "  probe  p:entry  vfs_read ",
            DynamicProbe(kind="p", name="entry", file=None, function="vfs_read"),
            id="a kernel function",
        ),
        pytest.param(
            "probe p:t ./a:t string=+0(%di):string",
            DynamicProbe(kind="p", name="t", file="./a", function="t", arguments="string=+0(%di):string"),
            id="arguments to fetch",
        ),
        pytest.param(
            "probe p:* ./a:ten_*",
            DynamicProbe(kind="p", name="*", file="./a", function="ten_*"),
            id="every function of a file that matches",
        ),
    ],
)
def test_a_probe_is_read_from_one_line(line: str, probe: DynamicProbe) -> None:
    assert parse_probe(line) == probe


@pytest.mark.parametrize(
    "line",
    [
        "probe",
        "probe read libc:read",
        "probe x:read libc:read",
        "probe p: libc:read",
        "probe p:1st libc:read",
        "probe p:read",
        "probe p:read libc:",
        "probe p:read :read",
        "probe p:read a:b:c",
        "probe p:* ./a:ten",
        "probe p:ten ./a:ten_*",
        "probe p:* vfs_*",
        "probe p:* ./a:*",
        "p:read libc:read",
    ],
)
def test_another_line_is_refused_with_the_form_that_was_expected(line: str) -> None:
    with pytest.raises(ValueError, match="expected `probe KIND:NAME FILE:FUNCTION`"):
        parse_probe(line)


@given(kind=st.sampled_from("pr"), name=NAMES, file=FILES, function=NAMES, arguments=ARGUMENTS)
def test_whatever_is_written_in_the_form_is_read_back(
    kind: str, name: str, file: str | None, function: str, arguments: str
) -> None:
    target = function if file is None else f"{file}:{function}"
    probe = parse_probe(f"probe {kind}:{name} {target} {arguments}")
    assert (probe.kind, probe.name, probe.file, probe.function) == (kind, name, file, function)
    assert probe.arguments == arguments


def refusal(text: str) -> str | None:
    """Why a script is refused; None when it is not."""
    try:
        split_probes(text, "a.ftrace")
    except TracerFailed as failure:
        return str(failure)
    return None


@given(text=st.one_of(st.text(), NAMES.map(lambda name: f"probe {name}")))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    assert re.match(r"a\.ftrace:\d+: ", refusal(text) or "a.ftrace:1: ")


def test_probes_leave_the_numbers_of_other_lines_as_they_were() -> None:
    text = "# a comment\nprobe p:read libc:read # the entry\n\n-e probes:read\nprobe r:read_end libc:read\n"
    probes, rest = split_probes(text, "06.perf-stat")
    assert [probe.name for probe in probes] == ["read", "read_end"]
    assert rest == "# a comment\n\n\n-e probes:read\n\n"


def test_a_faulty_probe_is_refused_with_script_and_line() -> None:
    with pytest.raises(TracerFailed, match=r"^06\.ftrace:2: `probe q:read libc:read`: expected"):
        split_probes("event probes/read\nprobe q:read libc:read\n", "06.ftrace")


def test_the_group_of_scripts_is_ours_and_other_words_stay() -> None:
    events = DynamicEvents()
    assert events.in_group("-e probes:read -e uprobes:x") == f"-e {OURS}:read -e uprobes:x"
    assert events.in_group("probes/read") == f"{OURS}/read"
    assert events.in_group("probes of mine") == "probes of mine"


@contextmanager
def waiting() -> Iterator[int]:
    """A process that waits on its standard input, as a workload does."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:  # noqa: S607
        wait_for_workload(process.pid)
        yield process.pid
        process.communicate()


def test_a_workload_that_has_ended_is_told_from_one_that_waits() -> None:
    with subprocess.Popen(["true"]) as process:  # noqa: S607
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(TracerFailed, match="ended before the tracer was attached"):
            wait_for_workload(process.pid)
    with pytest.raises(TracerFailed, match="ended before"):
        wait_for_workload(GONE)


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """The root of a file system whose tracefs keeps lines and understands none."""
    folder = tmp_path / "sys/kernel/tracing"
    (folder / "events").mkdir(parents=True)
    for name in dynamic_events.LISTS:
        (folder / name).touch()
    (tmp_path / "proc" / str(os.getpid())).mkdir(parents=True)
    return tmp_path


def lines(root: Path, name: str) -> list[str]:
    return (root / "sys/kernel/tracing" / name).read_text(encoding="utf-8").splitlines()


def test_user_functions_become_offsets_in_files_and_kernel_functions_stay_names(fake: Path) -> None:
    probes = [parse_probe("probe p:read libc:read"), parse_probe("probe r:vfs vfs_read count=$retval")]
    with waiting() as pid:
        DynamicEvents(fake).define(probes, pid, Path("/nowhere/program"))
    (user,) = lines(fake, "uprobe_events")
    assert re.fullmatch(rf"p:{OURS}/read /\S+/libc\S*:0x[0-9a-f]+", user)
    assert lines(fake, "kprobe_events") == [f"r:{OURS}/vfs vfs_read count=$retval"]


def test_a_pattern_becomes_an_event_for_each_function_that_matches_called_like_it(fake: Path) -> None:
    (fake / "copy").write_bytes(Path(library_of(os.getpid(), "libc") or "").read_bytes())
    with waiting() as pid:
        DynamicEvents(fake).define([parse_probe("probe r:* ./copy:setre*")], pid, fake / "program")
    names = [match[1] for line in lines(fake, "uprobe_events") if (match := re.match(rf"r:{OURS}/(\w+) /\S+:0x", line))]
    assert {"setregid", "setreuid"} <= set(names)
    assert all(name.startswith("setre") for name in names)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("probe p:x libc:no_such_function", "has no function `no_such_function`", id="no such function"),
        pytest.param("probe p:* libc:no_such_*", r"has no function `no_such_\*`", id="nothing that matches"),
        pytest.param("probe p:x libnone:read", "has loaded no library `libnone`", id="no such library"),
        pytest.param("probe p:x ./none:read", "No such file or directory; expected the file", id="no such file"),
    ],
)
def test_what_cannot_be_found_is_refused_and_what_was_defined_before_is_removed(
    fake: Path, line: str, words: str
) -> None:
    probes = [parse_probe("probe p:read libc:read"), parse_probe(line)]
    with waiting() as pid, pytest.raises(TracerFailed, match=words):
        DynamicEvents(fake).define(probes, pid, fake / "program")
    assert lines(fake, "uprobe_events")[-1] == f"-:{OURS}/read"


def test_a_folder_with_a_blank_is_refused_because_the_kernel_would_split_it(fake: Path) -> None:
    folder = fake / "a b"
    folder.mkdir()
    (folder / "copy").write_bytes(Path(library_of(os.getpid(), "libc") or "").read_bytes())
    with waiting() as pid, pytest.raises(TracerFailed, match="takes no blank and no colon in a path"):
        DynamicEvents(fake).define([parse_probe("probe p:x ./copy:read")], pid, folder / "program")


def test_only_groups_of_processes_that_are_gone_are_leftovers(fake: Path) -> None:
    others = f"p:{OURS}/read /bin/x:0x1\np:uprobes/read /bin/x:0x1\np:probe_effect_test/read /bin/x:0x1\n"
    gone = f"p:probe_effect_{GONE}/a /bin/x:0x1\nr4:probe_effect_{GONE}/b /bin/x:0x1\n"
    (fake / "sys/kernel/tracing/uprobe_events").write_text(others + gone, encoding="utf-8")
    assert dynamic_events.leftovers(fake) == [f"probe_effect_{GONE}"]
    dynamic_events.remove_group(f"probe_effect_{GONE}", fake)
    assert lines(fake, "uprobe_events")[-2:] == [f"-:probe_effect_{GONE}/a", f"-:probe_effect_{GONE}/b"]
    assert lines(fake, "kprobe_events") == []


def test_without_tracefs_nothing_is_left_over(tmp_path: Path) -> None:
    assert dynamic_events.leftovers(tmp_path) == []
    with pytest.raises(TracerFailed, match="mount -t tracefs"):
        DynamicEvents(tmp_path).remove()


@pytest.fixture
def tracefs() -> Path:
    """The real one."""
    reason = "it takes root" if os.geteuid() != 0 else kernel.tracefs_missing(Path("/"))
    if reason or (reason := kernel.missing("uprobe", Path("/"))):
        pytest.skip(f"cannot define probes here: {reason}")
    return dynamic_events.tracefs()


def test_the_kernel_takes_a_probe_and_gives_it_up(tracefs: Path) -> None:
    events = DynamicEvents()
    with waiting() as pid:
        events.define([parse_probe("probe p:read libc:read"), parse_probe("probe r:back libc:read")], pid, Path("/x/y"))
        try:
            assert (tracefs / f"events/{OURS}/read/enable").read_text(encoding="utf-8").strip() == "0"
            assert (tracefs / f"events/{OURS}/back").is_dir()
            assert OURS not in dynamic_events.leftovers()
        finally:
            events.remove()
    events.remove()
    assert not (tracefs / f"events/{OURS}").exists()


def test_the_kernel_is_quoted_when_it_refuses_and_nothing_is_left(tracefs: Path) -> None:
    probes = [parse_probe("probe p:read libc:read"), parse_probe("probe p:odd libc:write x=%nosuch")]
    with waiting() as pid, pytest.raises(TracerFailed, match="uprobe_events: Invalid register name"):
        DynamicEvents().define(probes, pid, Path("/x/y"))
    assert OURS not in (tracefs / "uprobe_events").read_text(encoding="utf-8")
