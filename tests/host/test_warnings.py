"""What makes a machine noisy is found in the kernel's files, with the reason and what to do; absence is no verdict."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from probe_effect.host.load import SINCE_BOOT, CpuTimes, busy_ratio, cpu_times, steal_ratio
from probe_effect.host.system import CLOCK_FOLDER, throttles
from probe_effect.host.this_machine import MachineWarning, warnings
from probe_effect.records import CONDITIONS
from probe_effect.store.documents import Slug

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

CPUS = "sys/devices/system/cpu"
POWER = "sys/class/power_supply"
GUEST = "processor : 0\nflags : fpu hypervisor\n"
STAT = """\
cpu  400 0 400 1200 0 0 0 0 0 0
cpu0 100 0 100 800 0 0 0 0 0 0
cpu1 310 20 250 300 100 5 5 10 300 0
intr 1
"""


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n", encoding="utf-8")


def only(found: tuple[MachineWarning, ...]) -> MachineWarning:
    (warning,) = found
    return warning


# Steal


def test_the_time_of_guests_is_counted_once_and_waiting_for_disks_is_idle(tmp_path: Path) -> None:
    put(tmp_path, "proc/stat", STAT)
    assert cpu_times(tmp_path, 1) == CpuTimes(idle=400, steal=10, total=1000)


def test_steal_is_the_share_of_the_time_between_two_readings() -> None:
    before, after = CpuTimes(idle=400, steal=10, total=1000), CpuTimes(idle=450, steal=30, total=1200)
    assert steal_ratio(before, after) == pytest.approx(0.1)
    assert busy_ratio(before, after) == pytest.approx(0.75)
    assert steal_ratio(SINCE_BOOT, before) == pytest.approx(0.01)


@pytest.mark.parametrize("text", ["", "cpu0 1 2 3\n", "intr 1\n"], ids=["absent", "too old a kernel", "no such CPU"])
def test_steal_is_missing_where_the_kernel_does_not_count_it(tmp_path: Path, text: str) -> None:
    put(tmp_path, "proc/stat", text)
    assert cpu_times(tmp_path, 0) is None
    assert steal_ratio(None, CpuTimes(idle=1, steal=1, total=1)) is None


def test_two_readings_within_one_tick_say_nothing() -> None:
    reading = CpuTimes(idle=400, steal=10, total=1000)
    assert steal_ratio(reading, reading) is None
    assert busy_ratio(reading, reading) is None


def test_counts_of_the_kernel_that_step_back_give_no_share_below_zero() -> None:
    before, after = CpuTimes(idle=400, steal=10, total=1000), CpuTimes(idle=399, steal=9, total=1100)
    assert (steal_ratio(before, after), busy_ratio(before, after)) == (0, 1)


# Warnings


def test_a_machine_without_files_and_without_measurements_gets_no_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, cpu=0) == ()


def test_a_well_kept_machine_gets_no_warning(tmp_path: Path) -> None:
    put(tmp_path, f"{CPUS}/cpu0/cpufreq/scaling_governor", "performance")
    put(tmp_path, f"{CPUS}/intel_pstate/no_turbo", "1")
    put(tmp_path, f"{CPUS}/smt/active", "0")
    put(tmp_path, f"{CLOCK_FOLDER}/current_clocksource", "tsc")
    put(tmp_path, "proc/cpuinfo", GUEST.replace(" hypervisor", ""))
    put(tmp_path, "proc/sys/kernel/randomize_va_space", "2")
    quiet = warnings(tmp_path, cpu=0, load=0.0, clock_read_ns=24.0, steal=0.01, sibling_busy=0.05)
    assert quiet == ()


@pytest.mark.parametrize(
    ("path", "text", "warning", "words"),
    [
        pytest.param(
            f"{CPUS}/cpu0/cpufreq/scaling_governor", "powersave", "governor", ("powersave", "pyperf"), id="governor"
        ),
        pytest.param(f"{CPUS}/intel_pstate/no_turbo", "0", "turbo", ("base frequency", "pyperf"), id="turbo of Intel"),
        pytest.param(f"{CPUS}/cpufreq/boost", "1", "turbo", ("base frequency", "cpufreq/boost"), id="boost of others"),
        pytest.param(f"{CPUS}/smt/active", "1", "smt", ("share cores", "smt/control"), id="SMT"),
        pytest.param(f"{CLOCK_FOLDER}/current_clocksource", "hpet", "clock", ("hpet", "dmesg"), id="clock"),
        pytest.param(f"{POWER}/BAT0/status", "Discharging", "battery", ("its battery", "mains"), id="battery"),
        pytest.param("proc/cpuinfo", GUEST, "virtual", ("virtual", "on hardware"), id="virtual"),
    ],
)
def test_a_setting_is_named_with_what_to_do(
    tmp_path: Path, path: str, text: str, warning: str, words: tuple[str, str]
) -> None:
    put(tmp_path, path, text)
    one = only(warnings(tmp_path, cpu=0))
    assert one.id == warning
    assert words[0] in one.found
    assert words[1] in one.advice


@pytest.mark.parametrize(
    ("measured", "warning", "found"),
    [
        pytest.param({"steal": 0.011}, "steal", "1.1\u00a0%", id="steal"),
        pytest.param({"throttles": 12}, "throttled", "12 times", id="heat"),
        pytest.param({"load": 1e6}, "load", "1000000.00 on", id="load"),
        pytest.param({"clock_read_ns": 131.0}, "clock", "131\u00a0ns", id="clock"),
    ],
)
def test_a_measurement_above_its_limit_is_named_with_its_value(
    tmp_path: Path, measured: dict[str, Any], warning: str, found: str
) -> None:
    one = only(warnings(tmp_path, cpu=0, **measured))
    assert one.id == warning
    assert found in one.found


def test_a_battery_that_is_charged_or_of_a_mouse_is_no_warning(tmp_path: Path) -> None:
    put(tmp_path, f"{POWER}/BAT0/status", "Charging")
    put(tmp_path, f"{POWER}/AC/online", "1")
    put(tmp_path, f"{POWER}/hidpp_battery_0/status", "Discharging")
    put(tmp_path, f"{POWER}/hidpp_battery_0/scope", "Device")
    assert warnings(tmp_path) == ()


def test_throttles_of_all_cores_are_added_up(tmp_path: Path) -> None:
    assert throttles(tmp_path) == 0
    for cpu, number in ((0, 3), (1, 4)):
        put(tmp_path, f"{CPUS}/cpu{cpu}/thermal_throttle/core_throttle_count", str(number))
    assert throttles(tmp_path) == 7


def test_load_is_judged_by_the_number_of_cpus(tmp_path: Path) -> None:
    put(tmp_path, f"{CPUS}/online", "0-3")
    assert warnings(tmp_path, load=2.0) == ()
    assert only(warnings(tmp_path, load=2.1)).id == "load"
    assert warnings(tmp_path, load=None) == ()


def test_the_sibling_of_the_workloads_cpu_is_named_and_a_busy_one_is_a_warning_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, f"{CPUS}/smt/active", "1")
    put(tmp_path, f"{CPUS}/cpu3/topology/thread_siblings_list", "1,3")
    assert "CPU 1 shares the core of the workload's CPU 3" in only(warnings(tmp_path, cpu=3, sibling_busy=0.05)).found
    busy, smt = warnings(tmp_path, cpu=3, sibling_busy=0.4)
    assert (busy.id, smt.id) == ("smt-sibling", "smt")
    assert "CPU 1, which shares a core with the workload's CPU 3, is busy 40\u00a0%" in busy.found


def test_a_slow_clock_source_is_compared_with_the_best_that_the_kernel_offers(tmp_path: Path) -> None:
    put(tmp_path, f"{CLOCK_FOLDER}/current_clocksource", "acpi_pm")
    put(tmp_path, f"{CLOCK_FOLDER}/available_clocksource", "acpi_pm tsc")
    one = only(warnings(tmp_path, clock_read_ns=900.0))
    assert one.found == "the clock source is acpi_pm, and a read takes 900\u00a0ns"
    assert "echo tsc | sudo tee /sys/devices/system/clocksource" in one.advice


def test_a_fast_clock_source_that_reads_slowly_is_sought_in_what_stands_between(tmp_path: Path) -> None:
    put(tmp_path, f"{CLOCK_FOLDER}/current_clocksource", "tsc")
    assert "vdso=0" in only(warnings(tmp_path, clock_read_ns=250.0)).advice


def test_a_guest_of_a_guest_is_told_once(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    put(tmp_path, "proc/cmdline", "quiet nested_pvm=1")
    assert only(warnings(tmp_path)).id == "nested"


def test_every_warning_has_an_id_that_the_record_takes_and_says_all_three_things(tmp_path: Path) -> None:
    put(tmp_path, f"{CPUS}/cpu0/cpufreq/scaling_governor", "powersave")
    put(tmp_path, f"{CPUS}/intel_pstate/no_turbo", "0")
    put(tmp_path, f"{CPUS}/smt/active", "1")
    put(tmp_path, f"{CPUS}/cpu0/topology/thread_siblings_list", "0-1")
    put(tmp_path, f"{CLOCK_FOLDER}/current_clocksource", "jiffies")
    put(tmp_path, "proc/cpuinfo", GUEST)
    found = warnings(tmp_path, cpu=0, load=1e6, clock_read_ns=999.0, steal=0.5, sibling_busy=1.0)
    names = [one.id for one in found]
    assert names == ["governor", "turbo", "virtual", "smt-sibling", "smt", "load", "steal", "clock"]
    assert TypeAdapter(tuple[Slug, ...]).validate_python(tuple(names)) == tuple(names)
    assert all(one.found and one.why and one.advice for one in found)


# Settings that add to a cost


@pytest.mark.parametrize(
    ("path", "text", "warning", "measure"),
    [
        ("proc/sys/kernel/bpf_stats_enabled", "1", "bpf-statistics", "says"),
        ("proc/sys/net/core/bpf_jit_enable", "0", "bpf-interpreted", "says"),
        ("proc/sys/net/core/bpf_jit_harden", "2", "bpf-hardened", "says"),
        ("proc/sys/kernel/task_delayacct", "1", "delay-accounting", "records"),
        ("proc/sys/kernel/sched_schedstats", "1", "scheduler-statistics", "records"),
        ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", "pressure-stalls", "records"),
        ("proc/self/status", "Name:\tsh\nSeccomp:\t2\nSeccomp_filters:\t1", "seccomp", "records"),
        (".dockerenv", "", "container", "records"),
    ],
)
def test_a_setting_of_the_kernel_is_found_and_measure_does_what_the_table_says(
    tmp_path: Path, path: str, text: str, warning: str, measure: str
) -> None:
    put(tmp_path, path, text)
    one = only(warnings(tmp_path))
    assert (one.id, one.measure) == (warning, measure)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("proc/sys/kernel/bpf_stats_enabled", "0"),
        ("proc/sys/net/core/bpf_jit_enable", "1"),
        ("proc/sys/net/core/bpf_jit_harden", "1"),
        ("proc/sys/kernel/task_delayacct", "0"),
        ("proc/self/status", "Seccomp:\t0"),
    ],
)
def test_a_setting_that_adds_nothing_is_not_told(tmp_path: Path, path: str, text: str) -> None:
    put(tmp_path, path, text)
    assert warnings(tmp_path) == ()


def test_a_clock_that_is_not_set_is_told_before_and_not_by_check_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Board(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Board:
            return cls(1970, 1, 1, tzinfo=tz)

    monkeypatch.setattr("probe_effect.host.this_machine.datetime", Board)
    one = only(warnings(tmp_path))
    assert (one.id, one.measure) == ("clock-unset", "refuses")
    assert "1970-01-01" in one.found


def test_workload_and_tracer_on_two_kinds_of_cores_are_told(tmp_path: Path) -> None:
    put(tmp_path, f"{CPUS}/online", "0-3")
    for cpu, capacity in enumerate((1024, 1024, 414, 414)):
        put(tmp_path, f"{CPUS}/cpu{cpu}/cpu_capacity", str(capacity))
    assert warnings(tmp_path, cpu=1, tracer_cpu=0) == ()
    assert [one.id for one in warnings(tmp_path, cpu=3, tracer_cpu=0)] == ["mixed-cores", "slow-core"]
    assert [one.id for one in warnings(tmp_path, cpu=3, tracer_cpu=2)] == ["slow-core"]


def test_every_condition_says_where_it_is_seen_what_it_does_and_what_to_do() -> None:
    for name, one in CONDITIONS.items():
        assert one.seen or (one.file and one.shows), name
        assert one.found, name
        assert one.why.endswith("."), name
        assert "{" not in one.seen + one.why + one.fault, f"{name}: the page of all conditions fills in nothing"
        assert one.advice, name
        assert one.measure != "refuses" or one.fault, f"{name}: what is measured anyway must lead nothing"
