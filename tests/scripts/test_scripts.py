"""Tracing scripts and command lines: what they probe, and what they do at each event."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import script_examples
from helpers.builders import PROJECT
from helpers.needs import needs
from probe_effect.costs.actions import READINGS
from probe_effect.model import UsageError
from probe_effect.scripts.clauses import kind_of
from probe_effect.scripts.commands import watched_by_tool
from probe_effect.scripts.form import ALIASES, EFFECTS, KINDS, TOKENS, tables
from probe_effect.scripts.script import Script, ScriptError, ScriptProbe, read_script
from probe_effect.store.suite_file import read_suite

if TYPE_CHECKING:
    from probe_effect.store.suite_file import Case

TOOLS = sorted(Path("/usr/sbin").glob("*.bt"))
SUITES = sorted(path.parent for path in (PROJECT / "data/suites").glob("*/suite.toml"))
SCRIPTS = sorted(path for path in (PROJECT / "data/suites").glob("*/*") if path.suffix in {".bt", ".d"})
READ_AS = {
    "filter-rejects": "count",
    "filter-by-pid": "filter",
    "filter-by-name": "filter",
    "filter-by-cgroup": "filter",
    "count-shared": "count",
    "count-by-two-stacks": "count-by-kernel-stack",
    "show-processes": "count-by-name",
    "sum-off-cpu-by-thread": "count-by-pid",
    "sum-off-cpu-by-kernel-stack": "count-by-kernel-stack",
}
"""Actions that suites tell apart by more than the script says, to what is read."""

EXPLAINED = re.compile(r"^(?:while \(|unroll \(|for \()")
"""What scripts of bpftrace do that no measured action is."""


def only(text: str) -> ScriptProbe:
    (probe,) = read_script(text).probes
    return probe


def actions(block: str) -> list[str]:
    return list(only(f"kprobe:f {{ {block} }}").actions)


def timings(text: str) -> list[str | None]:
    return [probe.timing for probe in read_script(text).probes]


def cases(folder: Path) -> tuple[Case, ...]:
    suite, problems = read_suite(folder, "suite.toml")
    assert suite is not None, problems
    return tuple(suite.cases)


def wrong(text: str) -> ScriptError:
    with pytest.raises(ScriptError) as caught:
        read_script(text)
    return caught.value


# What is probed


@pytest.mark.parametrize(
    ("attach", "whole", "kind"),
    [
        ("t:syscalls:sys_enter_read", "tracepoint:syscalls:sys_enter_read", "tracepoint-entry"),
        ("t:raw_syscalls:sys_enter", "tracepoint:raw_syscalls:sys_enter", "tracepoint-entry"),
        ("tracepoint:syscalls:sys_exit_*", "tracepoint:syscalls:sys_exit_*", "tracepoint-return"),
        ("tracepoint:sched:sched_switch", "tracepoint:sched:sched_switch", "tracepoint"),
        ("rt:sys_enter", "rawtracepoint:sys_enter", "raw-tracepoint"),
        ("k:vfs_read", "kprobe:vfs_read", "kprobe"),
        ("kr:vfs_read", "kretprobe:vfs_read", "kretprobe"),
        ("kfunc:vfs_read", "fentry:vfs_read", "fentry"),
        ("kretfunc:vfs_read", "fexit:vfs_read", "fexit"),
        ("u:libc:malloc", "uprobe:libc:malloc", "uprobe"),
        ("ur:/bin/bash:readline", "uretprobe:/bin/bash:readline", "uretprobe"),
        ("U:/a/b:c:d", "usdt:/a/b:c:d", "usdt"),
        ("p:hz:99", "profile:hz:99", "profile"),
        ("BEGIN", "BEGIN", "begin"),
        ("end", "end", "end"),
        ("nonsense:a", "nonsense:a", "unknown"),
    ],
)
def test_short_and_old_names_of_probes_are_resolved(attach: str, whole: str, kind: str) -> None:
    probe = only(f"{attach} {{ @ = count() }}")
    assert (probe.attach, probe.kind) == (whole, kind)


def test_each_of_several_attach_points_is_a_probe_on_its_own_line() -> None:
    found = read_script("k:a,\nk:b /pid == 1/ {\n  @ = count()\n}\nEND { clear(@) }")
    assert [(one.attach, one.line) for one in found.probes] == [("kprobe:a", 1), ("kprobe:b", 2), ("END", 5)]


def test_a_slash_belongs_to_a_path_only_where_there_can_be_one() -> None:
    assert only("uprobe:/bin/bash:readline/**/{ 1 }").attach == "uprobe:/bin/bash:readline/**/"
    assert only("uprobe:/bin/bash:readline /* entry */ { 1 }").attach == "uprobe:/bin/bash:readline"
    assert only("kprobe:tcp_*/pid/{ 1 }").attach == "kprobe:tcp_*"


def test_commas_in_quotes_divide_no_attach_points() -> None:
    assert only('u:/bin/a:"f(int, char)" { 1 }').attach == 'uprobe:/bin/a:"f(int, char)"'


@given(st.sampled_from(sorted(KINDS)), st.from_regex(r"[a-z_]{1,8}(?::[a-z_*]{1,8}){0,2}", fullmatch=True))
def test_an_attach_point_of_any_provider_comes_back_as_written(provider: str, rest: str) -> None:
    attach = f"{provider}:{rest}"
    assert only(f"{attach} {{ 1 }}").attach == attach
    assert kind_of(attach, "bpftrace") != "unknown"


@given(st.sampled_from(sorted(ALIASES)))
def test_a_short_name_is_read_as_the_long_one(alias: str) -> None:
    assert only(f"{alias}:a:b {{ 1 }}").kind == only(f"{ALIASES[alias]}:a:b {{ 1 }}").kind


# What is done


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("1", "nothing"),
        ("@ = count()", "count"),
        ("@x++", "count"),
        ("@[tid] = sum(arg2)", "count-by-pid"),
        ("@[cpu] = avg(arg2)", "count-by-pid"),
        ("@[comm] = count()", "count-by-name"),
        ("@[probe] = stats(1)", "count-by-name"),
        ("@[args->comm] = count()", "count-by-name"),
        ("@[pid, comm] = count()", "count-by-pid-and-name"),
        ("@[(pid, comm)] = count()", "count-by-pid-and-name"),
        ("@[str(arg0)] = count()", "count-by-string"),
        ("@[kstack] = count()", "count-by-kernel-stack"),
        ("@[ustack(3), comm] = count()", "count-by-user-stack"),
        ("@ = hist(arg2)", "histogram"),
        ("@[comm] = lhist(arg2, 0, 10, 1)", "histogram count-by-name"),
        ("@[kstack, ustack] = hist(arg2)", "histogram-by-two-stacks"),
        ("@[kstack, str(arg0), ustack] = hist(arg2)", "histogram-by-two-stacks count-by-string"),
        ("@[str(arg0), str(arg1)] = count()", "count-by-string count-by-string"),
        ("@[ustack, str(arg1), comm] = count()", "count-by-user-stack count-by-string"),
        ('printf("%d", pid)', "print"),
        ('time("%H"); printf("%s", str(arg0))', "print print count-by-string"),
        ("@a[tid] = arg0; @b[tid] = comm", "count-by-pid count-by-pid"),
        ("$x = @a[tid]; $y = $x + 1", "nothing"),
    ],
)
def test_a_statement_is_named_by_what_it_costs(block: str, expected: str) -> None:
    assert actions(block) == expected.split()


def test_of_branches_each_action_counts_as_often_as_one_branch_has_it() -> None:
    assert actions("if (1) { time(); time() } else if (2) { time(); @ = count() } else { @++ } @[pid]++") == [
        "print",
        "print",
        "count",
        "count-by-pid",
    ]


def test_a_string_is_copied_once_however_often_its_variable_is_used() -> None:
    assert actions("$s = str(arg0); @[$s] = count()") == ["count-by-string", "count-by-name"]


def test_what_is_only_asked_for_its_type_is_not_done() -> None:
    assert actions("$x = sizeof(str(arg0))") == ["nothing"]


def test_what_a_macro_or_function_does_is_done_where_it_is_called() -> None:
    assert only("macro m(@a) { @a[comm]++ } k:f { m(@x) }").actions == ("count-by-name",)
    assert only("fn g() : void { g(); time() } k:f { g() }").actions == ("print",)


@pytest.mark.parametrize("body", ['printf("x")', "kstack", "@seen[tid]", "3 + f()", "\\\n kstack"])
def test_what_the_preprocessor_would_write_into_a_clause_is_refused(body: str) -> None:
    assert wrong(f"#define DO {body}\nk:f {{ DO; }}").line == 1


@pytest.mark.parametrize("body", ["", "16", "(0x1fUL << 3)", '"a name"', "16 // of them", "16 /* of them */"])
def test_a_constant_of_the_preprocessor_costs_nothing(body: str) -> None:
    assert only(f"#define MANY {body}\nk:f {{ @[MANY] = count(); }}").actions == ("count-by-pid",)


def test_a_process_that_is_stopped_or_killed_does_not_go_on_for_nothing() -> None:
    assert only("syscall::read:entry { stop(); raise(9); }").unknown == ("stop()", "raise(9)")


def test_the_depth_of_a_stack_takes_a_walk_over_it() -> None:
    assert only("syscall::read:entry { @ = max(ustackdepth); @[caller] = count(); }").actions == (
        "count-by-user-stack",
        "count",
        "count-by-kernel-stack",
    )


def test_loops_and_unknown_functions_are_named() -> None:
    block = "while ($i < 3) { $i++; }  unroll(3) { @++ } delete(@a[pid]); frobnicate(1,   2)"
    found = only(f"k:f {{ {block} }}").unknown
    assert found == ("while ($i < 3)", "unroll(3)", "frobnicate(1, 2)")


def test_a_key_that_is_deleted_is_an_update_of_it() -> None:
    found = only("k:f { delete(@a[pid]) }")
    assert (found.actions, found.unknown) == (("count-by-pid",), ())


def test_a_long_unknown_part_is_shortened() -> None:
    assert len(only(f"k:f {{ g({'1' * 5000}) }}").unknown[0]) == 40


@pytest.mark.parametrize(
    ("clause", "has_filter"),
    [
        ("k:f /pid == 1/ { @++ }", True),
        ("k:f { if (pid == 1) { @++ } }", True),
        ("k:f { if (pid == 1) { @++ } else { @x++ } }", False),
        ("k:f { if (pid == 1) { @++ } @x++ }", False),
        ("k:f { @++ }", False),
        ("k:f { $n = arg2; if ($n > 4096) { @++ } }", True),
        ("k:f { $n = arg2 if ($n > 4096) { @++ } @x = 1; }", False),
        ("k:f { $s = kstack; if (arg2) { @[$s]++ } }", False),
        ("k:f { if (arg2 <= 4096) { return; } @++; }", True),
        ("k:f { @x = 1; if (arg2 <= 4096) { return; } @++; }", False),
        ("k:f { if (arg0) { @++ } if (arg1) { @x++ } }", True),
        ("k:f { if (arg0) { @++ } if (arg1) { @x++ } else { @y++ } }", False),
        ("k:f { $n = arg2; }", False),
    ],
)
def test_a_filter_is_a_predicate_or_an_if_around_everything(clause: str, has_filter: bool) -> None:
    assert only(clause).has_filter is has_filter


def test_a_filter_before_nothing_is_an_action_itself() -> None:
    assert only("k:f /arg2 > 0/ { 1 }").actions == ("filter",)


def test_a_division_in_a_predicate_does_not_end_it() -> None:
    assert only("k:f /arg0 / 2 == 1/ { @ = arg0 / 2 }").actions == ("count",)


@pytest.mark.parametrize(
    "end",
    [
        "@ = hist(nsecs - @s[tid]); delete(@s[tid])",
        "$d = (nsecs - @s[tid]) / 1000; @ = hist($d)",
        "$s = @s[tid]; if ($s) { @ = lhist(nsecs - $s, 0, 10, 1) }",
    ],
)
def test_a_timing_pair_is_recognised_and_its_deletion_is_part_of_it(end: str) -> None:
    found = read_script(f"k:f {{ @s[tid] = nsecs }} kr:f /@s[tid]/ {{ {end} }}")
    assert [one.timing for one in found.probes] == ["start", "end"]
    assert found.probes[1].actions == ("histogram-of-time",)
    assert found.probes[1].unknown == ()


def test_what_is_read_before_it_is_stored_is_known_all_the_same() -> None:
    assert timings("kr:f { @ = hist(nsecs - @s[tid]) } k:f { @s[tid] = nsecs }") == ["end", "start"]


def test_a_time_that_is_printed_is_no_timing_pair() -> None:
    assert timings('k:f { printf("%d", elapsed / 1000 - 1); @last = arg0 }') == [None]


def test_one_process_is_named_by_an_option_or_by_every_predicate() -> None:
    assert read_script("k:f /pid == 7/ { @++ } k:g /7 == pid && arg0/ { @++ } i:s:1 { print(@) }").pid_filter == "7"
    assert read_script("k:f /pid == 7/ { @++ } k:g { @++ }").pid_filter is None
    assert read_script("k:f /pid == 7 || uid/ { @++ }").pid_filter is None
    assert read_script("bpftrace -p 12 -e 'k:f { @++ }'").pid_filter == "12"


# Languages


def test_a_d_script_is_known_by_its_probes() -> None:
    found = read_script(
        "syscall::read:entry { self->t = timestamp } syscall::read:return { @ = max(timestamp - self->t) }"
    )
    assert found.language == "d"
    assert [(one.kind, one.timing) for one in found.probes] == [
        ("tracepoint-entry", "start"),
        ("tracepoint-return", "end"),
    ]


def test_a_d_clause_without_a_block_prints() -> None:
    assert only("syscall:::entry").actions == ("print",)


def test_a_program_is_taken_out_of_its_command_line() -> None:
    found = read_script("""$ sudo bpftrace -e 'k:f /comm == "dd"/ { @ = count() }'""")
    assert (found.language, found.text) == ("bpftrace", 'k:f /comm == "dd"/ { @ = count() }')


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("perf record -e syscalls:sys_enter_read ls", "syscalls:sys_enter_read tracepoint-entry record"),
        ("perf record -F 99 -ag sleep 1", "cycles profile record-stack"),
        ("perf record -F 99 --call-graph dwarf -p 1", "cycles profile record-stack-copy"),
        ("perf record -F 99 --call-graph dwarf,8192 -p 1", "cycles profile record-stack-copy"),
        ("perf record -F 99 --call-graph=dwarf,16384 -p 1", "cycles profile record-large-stack-copy"),
        ("perf record -F 99 -g --call-graph=fp -p 1", "cycles profile record-stack"),
        ("perf record -c 1000 -e cache-misses ls", "cache-misses hardware record"),
        ("perf stat -e sched:sched_switch -a", "sched:sched_switch tracepoint count"),
        ("perf record -e probe_libc:malloc__return ls", "probe_libc:malloc__return uretprobe record"),
        ("perf trace -e read ls", "read system-call print"),
        ("perf trace -s ls", "all system-call count-by-name"),
        ("strace ls", "all system-call print"),
        ("strace -fc -e trace=read ls", "all system-call count-by-name"),
        ("strace -f --seccomp-bpf -e trace=read ls", "read system-call print"),
        ("strace -e signal=none ls", "all system-call print"),
        ("trace-cmd record -p function -l vfs_read", "vfs_read function-tracer record"),
        ("trace-cmd record -e sched", "sched:* tracepoint record"),
        ("py-spy record -o f.svg -- python x.py", "sample profile record-stack"),
        ("py-spy top --pid 1", "sample profile record-stack"),
        ("py-spy dump --pid 1", "sample profile record-stack-once"),
        ("py-spy record --rate 1000 --nonblocking -- python x.py", "sample profile record-stack-running"),
        ("py-spy dump --nonblocking -p 1", "sample profile record-stack-running"),
        ("py-spy record -snp 1", "sample profile record-stack-native"),
    ],
)
def test_command_lines_of_other_tools_are_read(line: str, expected: str) -> None:
    probe = only(line)
    assert [probe.attach, probe.kind, *probe.actions] == expected.split()


@pytest.mark.parametrize(
    ("line", "tracer"),
    [
        ("perf stat -e sched:sched_switch -- top -b", "perf-stat"),
        ("perf trace -- perf record -g", "perf-trace"),
        ("perf top", "perf-record"),
        ("perf probe --add vfs_read", "perf-record"),
        ("strace -f ls", "strace"),
        ("strace -f --seccomp-bpf ls", "strace-seccomp"),
        ("strace --seccomp-bpf ls", "strace"),
        ("strace -f --seccomp-bpf -p 1", "strace"),
        ("trace-cmd record -e irq", "trace-cmd"),
        ("py-spy top -p 1", "py-spy"),
        ("syscall:::entry", "dtrace"),
        ("k:f { }", "bpftrace"),
    ],
)
def test_the_words_before_the_traced_program_decide_whose_costs_a_line_has(line: str, tracer: str) -> None:
    assert read_script(line).tracer == tracer


@pytest.mark.parametrize(
    ("line", "hz"),
    [
        ("profile:hz:99 { }", 99),
        ("profile:ms:10 { }", 100),
        ("profile:2s { }", 0.5),
        ("profile-10ms { x(); }", 100),
        ("profile-97 { x(); }", 97),
        ("profile:::profile-1min { x(); }", 1 / 60),
        ("profile:hz:$1 { }", None),
        ("profile:ms:0 { }", None),
        ("perf record -a", 4000),
        ("perf record --freq=49 -a", 49),
        ("perf record -F max -a", None),
        ("perf stat -e cpu-clock", None),
        ("py-spy record -p 1", 100),
        ("py-spy record --rate=20 -d 5 -f raw -p 1", 20),
        ("py-spy top -r1000 -p 1", 1000),
        ("py-spy record -r 0 -p 1", None),
        ("py-spy dump -p 1", 1),
        ("k:f { }", None),
    ],
)
def test_a_timer_says_how_often_it_fires(line: str, hz: float | None) -> None:
    (probe,) = read_script(line).probes
    assert probe.hz == hz


def test_options_that_change_what_events_cost_are_kept() -> None:
    assert read_script("strace -f --seccomp-bpf -o x -e read ls").options == ("-f", "--seccomp-bpf", "-e read")
    assert read_script("perf record -ag -F99 -o x sleep 1").options == ("-a", "-g", "-F 99")
    found = read_script("py-spy record -t -d 9 --nonblocking -r 50 -s -p 7")
    assert (found.options, found.pid_filter) == (("--nonblocking", "-r 50", "-s"), "7")


@pytest.mark.parametrize(
    ("line", "behind"),
    [
        ("strace -f bash", "-c 'ls; date'"),
        ("strace grep", "-f words -e trace=read"),
        ("perf record -e sched:sched_switch python3", "-c 1000000"),
        ("perf record -g sleep 5", "-F 9"),
        ("perf trace ls", "-s"),
        ("trace-cmd record -p function_graph awk", "-f x.awk -l vfs_read"),
    ],
)
def test_options_behind_the_traced_program_are_that_programs(line: str, behind: str) -> None:
    alone, whole = read_script(line), read_script(f"{line} {behind}")
    assert (whole.probes, whole.options) == (alone.probes, alone.options)


@pytest.mark.parametrize(
    ("line", "attach"),
    [
        ("perf stat -x , -e cs -a sleep 1", "cs"),
        ("perf stat record -e cs -a sleep 1", "cs"),
        ("perf top -d 2 -s comm -e cs", "cs"),
        ("perf trace --max-events 9 --duration 3 -e openat -a", "openat"),
        ("trace-cmd record -k -e sched:sched_switch", "sched:sched_switch"),
        ("trace-cmd record -t -N host:99 -e sched:sched_switch", "sched:sched_switch"),
    ],
)
def test_the_value_of_an_option_is_no_program_that_ends_the_options(line: str, attach: str) -> None:
    assert [one.attach for one in read_script(line).probes] == [attach]


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("perf trace --call-graph dwarf -e read -p 9", "--call-graph dwarf"),
        ("perf trace --kernel-syscall-graph -p 9", "--kernel-syscall-graph"),
        ("perf record -e cycles:u,cpu/cycles,period=100/ -a", "-e cycles:u,cpu/cycles,period=100/"),
        ("perf record -e cycles/freq=9000,call-graph=dwarf/ -a", "-e cycles/freq=9000,call-graph=dwarf/"),
        ("perf record -e intel_pt//u ls", "-e intel_pt//u"),
        ("perf record -b -a", "-b"),
        ("strace --stack-traces ls", "--stack-traces"),
        ("strace -e fault=mmap ls", "-e fault=mmap"),
        ("trace-cmd record -p function --func-stack -l vfs_read", "--func-stack"),
        ("trace-cmd record -e sched:sched_switch -R stacktrace", "-R stacktrace"),
        ("trace-cmd record -p function -O func_stack_trace -l f", "-O func_stack_trace"),
        ("trace-cmd record -p osnoise", "-p osnoise"),
    ],
)
def test_an_option_that_adds_work_which_nobody_measured_is_named(line: str, unknown: str) -> None:
    assert {one.unknown for one in read_script(line).probes} == {(unknown,)}


@pytest.mark.parametrize("line", ["perf stat -j -a ls", "perf record -e cpu/config=1/ -a", "py-spy top -p 9"])
def test_an_option_that_adds_no_work_is_not_named(line: str) -> None:
    assert {one.unknown for one in read_script(line).probes} == {()}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("trace-cmd record -e probe:tcp_sendmsg", "kprobe"),
        ("trace-cmd record -e probe_libc:malloc__return", "uretprobe"),
        ("perf trace -e probe_libc:malloc -a", "uprobe"),
        ("perf record -e uprobes:mine -a", "unknown"),
        ("trace-cmd record -e kprobes", "unknown"),
        ("t:kprobes:mine { @ = count() }", "unknown"),
        ("t:sched:sched_switch { @ = count() }", "tracepoint"),
    ],
)
def test_what_fires_by_a_breakpoint_is_no_tracepoint_whatever_tool_is_told_of_it(line: str, kind: str) -> None:
    (probe,) = read_script(line).probes
    assert probe.kind == kind


@pytest.mark.parametrize("name", ["syscalls:*", "syscalls:*read*", "raw_syscalls:*", "sys*:*open*", "*:*"])
def test_a_wildcard_that_may_match_system_calls_costs_what_one_on_them_does(name: str) -> None:
    assert read_script(f"perf stat -e '{name}' -a").probes[0].kind == "tracepoint-entry"
    assert read_script("perf stat -e 'syscalls:sys_exit_*' -a").probes[0].kind == "tracepoint-return"


def test_perf_that_is_told_a_process_watches_no_cpus() -> None:
    assert read_script("perf record -a -g -p 9").options == ("-g",)
    assert read_script("perf record -a -g").options == ("-a", "-g")
    assert watched_by_tool("perf record -a -p 9").pid == "9"


def test_a_period_spares_counters_and_not_what_fills_a_buffer_at_each_event() -> None:
    line = "perf record -c 500 -e page-faults,cache-misses,cpu-clock,kmem:kmalloc,probe_libc:malloc -a"
    assert [one.every for one in read_script(line).probes] == [500, 500, 1, 1, 1]


# Real scripts


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_our_own_scripts_are_read_in_their_language(path: Path) -> None:
    found = read_script(path.read_text(encoding="utf-8"))
    assert found.language == ("d" if path.suffix == ".d" else "bpftrace")
    assert all(one.kind != "unknown" for one in found.probes)
    assert all(EXPLAINED.match(part) for one in found.probes for part in one.unknown)


@pytest.mark.parametrize("folder", SUITES, ids=lambda folder: folder.name)
def test_the_actions_of_our_scripts_are_those_that_their_suites_name(folder: Path) -> None:
    different = {}
    for case in cases(folder):
        script = folder / f"{case.id}.bt"
        if script.is_file():
            found = read_script(script.read_text(encoding="utf-8"))
            if READ_AS.get(case.action, case.action) not in {word for one in found.probes for word in one.actions}:
                different[case.id] = (case.action, found.probes)
    assert different == {}


@pytest.mark.tracer
@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in TOOLS] or [None])
def test_every_tool_of_bpftraces_package_is_read(path: Path | None) -> None:
    if path is None:
        pytest.skip("no tools of bpftrace in /usr/sbin: apt install bpftrace")
    found = read_script(path.read_text(encoding="utf-8"))
    assert found.language == "bpftrace"
    assert all(one.kind != "unknown" for one in found.probes)
    assert all(EXPLAINED.match(part) for one in found.probes for part in one.unknown)


LIBRARY = re.compile(r"^(u(?:ret)?probe|usdt):(?:/.*/)?(\w+)[^:/]*:")


def by_library(attach: str) -> str:
    """An attach point in a library by its short name, for which bpftrace looks up the file."""
    return LIBRARY.sub(r"\1:\2:", attach)


@pytest.mark.deep
@needs("bpftrace")
def test_probes_of_bpftraces_own_tools_are_those_that_bpftrace_itself_finds(capsys: pytest.CaptureFixture[str]) -> None:
    known, alike = 0, set[str]()
    for path in TOOLS:
        said = subprocess.run(["bpftrace", "-d", path], capture_output=True, text=True, check=False)  # noqa: S607
        parsed = said.stdout.partition("AST after: parser")[2].partition("AST after:")[0]
        theirs = re.findall(r"^ ([A-Za-z]\S*)$", parsed, re.MULTILINE)
        if theirs:  # it compiles here: others need types of a kernel that tells them
            known += 1
            ours = [one.attach for one in read_script(path.read_text(encoding="utf-8")).probes]
            alike |= {path.name} if list(map(by_library, theirs)) == list(map(by_library, ours)) else set()
    with capsys.disabled():
        print(f"\nread as bpftrace reads them: {len(alike)} of {known} tools, of {len(TOOLS)} in /usr/sbin")  # noqa: T201
    assert len(alike) == known


# Bad input


@pytest.mark.parametrize(
    ("text", "line", "column", "found"),
    [
        ("", 1, 1, "no probe"),
        ("k:f", 1, 4, "the end of the script"),
        ("k:f {\n  @ = count(\n}", 3, 1, "“}”"),
        ("k:f { /* }", 1, 7, "“/*”"),
        ('k:f {\n "x }', 2, 2, '“"x”'),
        ("hello world", 1, 1, "“hello”"),
        ("kprobe:f world", 1, 10, "“world”"),
        ("struct x", 1, 9, "the end of the script"),
        ("k:f { \N{PILE OF POO} ¬ }", 1, 7, "“\N{PILE OF POO}”"),
        ("bpftrace -e 'k:f {", 1, 13, "“'” that is never closed"),
        ("bpftrace tool.bt", 1, 1, "“tool.bt”"),
    ],
)
def test_an_error_says_where_it_is_and_what_was_found(text: str, line: int, column: int, found: str) -> None:
    error = wrong(text)
    assert (error.line, error.column, error.found) == (line, column, found)
    assert isinstance(error, UsageError)
    assert str(error) == f"Script, line {line}, column {column}: found {found}, expected {error.expected}."


@pytest.mark.parametrize(
    ("line", "probes"),
    [
        ("strace -f --seccomp-bpf -e trace=openat -e trace=read ls", {"read": "system-call"}),
        ("perf stat -e cpu/event=0x3c,umask=0x01,name=slow/ ls", {"cpu/event=0x3c,umask=0x01,name=slow/": "hardware"}),
        ("perf record -e 'cpu/mem-loads,ldlat=30/P' -a", {"cpu/mem-loads,ldlat=30/P": "profile"}),
        ("perf probe 'tcp_sendmsg size=%cx'", {"tcp_sendmsg": "kprobe"}),
        ("perf probe 'mine=tcp_sendmsg size=%cx'", {"tcp_sendmsg": "kprobe"}),
        ("perf probe /bin/bash readline", {"readline": "uprobe"}),
        ("perf probe --target-ns 4711 -x /lib/libc.so.6 malloc", {"malloc": "uprobe"}),
        ("trace-cmd record -e all", {"*:*": "tracepoint-entry"}),
        ("ruby*:::method-entry { @ = count(); }", {"ruby*:::method-entry": "usdt"}),
        ("fbt::vfs_read: { @ = count(); }", {"fbt::vfs_read:": "kretprobe"}),
        ("\ufeffkprobe:vfs_read { @ = count(); }", {"kprobe:vfs_read": "kprobe"}),
    ],
)
def test_a_command_line_probes_what_its_tool_would(line: str, probes: dict[str, str]) -> None:
    assert {one.attach: one.kind for one in read_script(line).probes} == probes


@pytest.mark.parametrize(
    ("line", "tracer"),
    [
        ("timeout 10 perf record -a", "perf-record"),
        ("timeout -k 5 10 perf record -a", "perf-record"),
        ("sudo -u postgres strace -p 4711", "strace"),
        ("sudo nice -n 5 taskset -c 3 perf stat ls", "perf-stat"),
        ("# Sample all CPUs\nperf record -F 99 -a", "perf-record"),
        ("# perf record -F 99 -a", "perf-record"),
    ],
)
def test_a_tool_is_known_behind_the_command_that_starts_it(line: str, tracer: str) -> None:
    assert read_script(line).tracer == tracer


def test_perf_stat_counts_eight_events_where_nobody_says_which() -> None:
    kinds = [one.kind for one in read_script("perf stat ls").probes]
    assert kinds == ["software"] * 4 + ["hardware"] * 4


def test_a_time_that_is_formatted_later_is_no_second_print() -> None:
    assert only('k:f { printf("%s", strftime("%H:%M:%S", nsecs)); }').actions == ("print",)


def test_an_object_of_cpp_among_the_arguments_makes_no_script_of_d() -> None:
    assert read_script('uprobe:/opt/a:cpp:"P::t" { @[args.this->size] = count(); }').language == "bpftrace"


@pytest.mark.parametrize("deep", [20, 90])
def test_macros_that_call_each_other_twice_are_refused_and_not_read_for_ever(deep: int) -> None:
    macros = "\n".join(f"macro m{at}() {{ m{at + 1}(); m{at + 1}(); }}" for at in range(deep))
    error = wrong(f"{macros}\nmacro m{deep}() {{ @++ }}\nkprobe:f {{ m0(); }}")
    assert error.expected == "at most 1000 calls of macros and functions in a clause"
    assert error.found.startswith("“m")
    assert 1 <= error.line <= deep


def test_many_calls_of_small_functions_are_read() -> None:
    calls = "m(); " * 900
    assert only(f"macro m() {{ @++ }} kprobe:f {{ {calls} }}").actions == ("count",) * 900


def test_an_open_bracket_is_named_with_its_line() -> None:
    assert wrong("k:f {\n  if (1) {\n }\n").expected == "“}” for the “{” of line 1"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 10**6,
        "k:f {" + "{" * 10**6,
        "/*" * 10**5,
        "k:f /" + "/ " * 10**5,
        "u:" + "/" * 10**6,
        "a," * 10**5,
        "'" * 10**5,
    ],
    ids=["braces", "blocks", "comments", "slashes", "paths", "commas", "quotes"],
)
@pytest.mark.deep
def test_a_million_brackets_or_slashes_are_refused_without_a_deep_stack(text: str) -> None:
    assert len(str(wrong(text))) < 300


def read_or_refused(text: str) -> Script | ScriptError:
    try:
        return read_script(text)
    except ScriptError as error:
        return error


signs = st.sampled_from("{}[]()/*\"'@$,;:=-+ \n\\#&k|u") | st.sampled_from(
    ["kprobe:f", "if", "nsecs", "count()", "else"]
)


@given(st.lists(signs, max_size=80).map("".join) | st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    found = read_or_refused(text)
    if isinstance(found, ScriptError):
        assert 1 <= found.line <= text.count("\n") + 1
        assert found.column >= 1
    else:
        assert found.probes


@given(st.lists(signs, max_size=60).map("".join))
def test_any_block_is_read_or_refused(block: str) -> None:
    found = read_or_refused(f"k:f {{ {block} }}")
    assert isinstance(found, ScriptError) or found.probes


# Shared with the site


def test_the_committed_examples_are_those_that_their_generator_makes() -> None:
    assert script_examples.FILE.read_text(encoding="utf-8") == script_examples.file()
    assert len(script_examples.texts()) >= 80


def test_the_tables_are_plain_data() -> None:
    assert json.loads(json.dumps(tables())).keys() == tables().keys()


def test_patterns_are_those_that_both_languages_have() -> None:
    for _, pattern in TOKENS:
        assert re.compile(pattern).groups == 0
        assert not re.search(
            r"\\[wdWDbBAZ]|\(\?P|\(\?<|(?<!\\)\.", re.sub(r"\[[^\]]*\]", "", pattern).replace(r"\.", "")
        )


def test_every_word_of_the_reader_is_an_action_of_a_suite() -> None:
    known: set[Any] = {case.action for folder in SUITES for case in cases(folder)}
    said = {word for text in script_examples.texts() for word in _actions_of(text)}
    assert said - set(READINGS) <= known
    assert "unknown" not in EFFECTS.values()


def _actions_of(text: str) -> set[str]:
    found = read_or_refused(text)
    return set() if isinstance(found, ScriptError) else {word for one in found.probes for word in one.actions}
