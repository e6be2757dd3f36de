"""Facts about a machine come from the kernel's files, are None where those are absent, and name nobody."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from helpers.builders import machine_document
from helpers.needs import needs
from probe_effect import host
from probe_effect.host import system
from probe_effect.host.compilers import MACHINE
from probe_effect.host.load import KEYS, trap_times
from probe_effect.host.this_machine import choose_cpus, collect_machine, collect_system
from probe_effect.store.machine_file import with_id

if TYPE_CHECKING:
    from pathlib import Path

GUEST = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0x1000065
flags\t\t: fpu vme hypervisor syscall

processor\t: 1
model name\t: something else
"""


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def put_cpu(root: Path, number: int, package: str, core: str, siblings: str) -> None:
    folder = f"sys/devices/system/cpu/cpu{number}/topology"
    put(root, f"{folder}/physical_package_id", package)
    put(root, f"{folder}/core_id", core)
    put(root, f"{folder}/thread_siblings_list", siblings)


def test_every_fact_is_missing_on_a_machine_without_files(tmp_path: Path) -> None:
    facts = (system.cpu_model, system.smt, system.memory_bytes, system.governor, system.turbo)
    settings = (system.os_name, system.clocksource, system.virtualization)
    assert {fact(tmp_path) for fact in (*facts, *settings)} == {None}
    machine = collect_machine(tmp_path)
    assert (machine.microcode, machine.sockets, machine.cores) == (None, None, None)
    assert collect_system(None, tmp_path).bpf_jit is None
    assert system.boot_flags(tmp_path) == ()
    assert system.kernel_options(tmp_path) == {}
    assert system.vulnerabilities(tmp_path) == {}


def test_the_first_processor_gives_the_model(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    assert system.cpu_model(tmp_path) == "AMD EPYC"
    assert collect_machine(tmp_path).microcode == "0x1000065"
    assert system.signature(tmp_path)[:3] == ("25", "17", "1")


def test_an_arm_cpu_without_a_name_gives_its_numbers(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n")
    assert system.cpu_model(tmp_path) == "Neoverse-N1"
    put(tmp_path, "proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n")
    assert system.cpu_model(tmp_path) == "implementer 0x41 part 0xfff"


def test_cores_and_sockets_are_counted_once(tmp_path: Path) -> None:
    for number, (package, core) in enumerate([("0", "0"), ("0", "1"), ("1", "0"), ("1", "0")]):
        put_cpu(tmp_path, number, package, core, str(number))
    machine = collect_machine(tmp_path)
    assert (machine.cores, machine.sockets) == (3, 2)


def test_memory_is_in_bytes(tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", "MemTotal:       24684096 kB\nMemFree: 1 kB\n")
    assert system.memory_bytes(tmp_path) == 24684096 * 1024


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("intel_pstate/no_turbo", "1", False, id="Intel, off"),
        pytest.param("intel_pstate/no_turbo", "0", True, id="Intel, on"),
        pytest.param("cpufreq/boost", "1", True, id="AMD, on"),
        pytest.param("cpufreq/boost", "0", False, id="AMD, off"),
    ],
)
def test_turbo_is_read_where_the_driver_keeps_it(tmp_path: Path, path: str, text: str, expected: bool) -> None:
    put(tmp_path, f"sys/devices/system/cpu/{path}", text)
    assert system.turbo(tmp_path) is expected


def test_governors_that_differ_are_all_named(tmp_path: Path) -> None:
    for number, name in enumerate(("performance", "powersave", "performance")):
        put(tmp_path, f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor", name)
    assert system.governor(tmp_path) == "performance, powersave"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0,32", {0, 32}, id="list"),
        pytest.param("0-1", {0, 1}, id="range"),
        pytest.param("", {5}, id="none"),
    ],
)
def test_sibling_threads_are_read_in_both_forms(tmp_path: Path, text: str, expected: set[int]) -> None:
    put(tmp_path, "sys/devices/system/cpu/cpu5/topology/thread_siblings_list", text)
    assert system.siblings(tmp_path, 5) == expected


def test_the_tracer_gets_a_cpu_that_shares_no_core_with_the_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    put(tmp_path, "sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "0,3")
    assert choose_cpus(tmp_path) == (3, 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3})
    assert choose_cpus(tmp_path) == (3, 0)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {2})
    assert choose_cpus(tmp_path) == (2, None)


def test_boot_flags_outside_the_list_are_never_recorded(tmp_path: Path) -> None:
    line = (
        "BOOT_IMAGE=/vmlinuz-6.1 root=UUID=1234 hostname=alice-laptop ip=10.0.0.7 mitigations=off isolcpus=1-3 "
        "nohz_full=1-3 nopti clocksource=http://evil/ password=secret nomodule quiet -- mitigations=auto --token x\n"
    )
    put(tmp_path, "proc/cmdline", line)
    assert system.boot_flags(tmp_path) == ("mitigations=off", "isolcpus=1-3", "nohz_full=1-3", "nopti", "nomodule")


def test_build_options_outside_the_list_are_never_recorded(tmp_path: Path) -> None:
    text = b'CONFIG_HZ=250\n# CONFIG_KPROBES is not set\nCONFIG_BUILD_SALT="alice"\nCONFIG_LOCALVERSION="-mine"\n'
    put(tmp_path, "proc/version", "")
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(text))
    assert system.kernel_options(tmp_path) == {"CONFIG_HZ": "250", "CONFIG_KPROBES": "n"}


def test_build_options_are_found_where_distributions_keep_them(tmp_path: Path) -> None:
    release = "6.1.0-50-amd64"
    put(tmp_path, "proc/sys/kernel/osrelease", release)
    put(tmp_path, f"lib/modules/{release}/config", "CONFIG_HZ=1000\n")
    assert host.kernel_config(tmp_path) == {"HZ": "1000"}
    put(tmp_path, f"boot/config-{release}", "CONFIG_HZ=100\n")
    assert host.kernel_config(tmp_path) == {"HZ": "100"}


def test_the_distribution_is_named(tmp_path: Path) -> None:
    put(tmp_path, "etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
    assert system.os_name(tmp_path) == "Debian GNU/Linux 12 (bookworm)"


def test_vulnerabilities_are_quoted(tmp_path: Path) -> None:
    put(tmp_path, "sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n")
    assert system.vulnerabilities(tmp_path) == {"meltdown": "Not affected"}


def test_a_machine_without_the_hypervisor_flag_is_bare_metal_whatever_its_firmware_says(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST.replace(" hypervisor", ""))
    put(tmp_path, "sys/class/dmi/id/sys_vendor", "Amazon EC2")
    assert system.virtualization(tmp_path) is None
    assert system.nested(tmp_path) is False


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(f"{system.CLOCK_FOLDER}/available_clocksource", "tsc kvm-clock", "KVM", id="clock source"),
        pytest.param("sys/hypervisor/type", "xen", "Xen", id="/sys/hypervisor"),
        pytest.param("sys/class/dmi/id/product_name", "VMware Virtual Platform", "VMware", id="firmware"),
        pytest.param("proc/uptime", "1", system.UNNAMED, id="no sign of which"),
    ],
)
def test_a_guest_names_its_hypervisor_by_the_surest_sign(tmp_path: Path, path: str, text: str, expected: str) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    put(tmp_path, path, text)
    assert system.virtualization(tmp_path) == expected


HYPERVISOR = "6,1,0,-;Hypervisor detected: KVM\n"
PVM = "6,9,228507,-,caller=T1;pvm-pv: not detected, 0/49 sites patched\n SUBSYSTEM=pci\n"
BOOT = "5,0,0,-;Linux version 6.18.44 (alice@laptop) #1\n"
OTHERS = (
    "12,20,5,-;kvm: alice wrote this line herself\n6,21,5,-;kvm: see http://evil/\n"
    "6,22,5,-;Kernel command line: nested_pvm=1 password=secret\n6,23,5,-;systemd: Hypervisor detected: alice\n"
)


@pytest.mark.parametrize(
    ("info", "words", "log", "expected"),
    [
        pytest.param(GUEST, "quiet", BOOT + HYPERVISOR, (None, ("Hypervisor detected: KVM",)), id="plain KVM guest"),
        pytest.param(
            GUEST,
            "quiet nested_pvm=1 panic=1",
            BOOT + HYPERVISOR + PVM + HYPERVISOR + OTHERS,
            (True, ("Hypervisor detected: KVM", "pvm-pv: not detected, 0/49 sites patched")),
            id="nested by its boot parameter",
        ),
        pytest.param(GUEST.replace(" hypervisor", ""), "nested_pvm=1", BOOT + OTHERS, (False, ()), id="bare metal"),
        pytest.param(GUEST, "nested_pvm=1", None, (True, None), id="log closed to us"),
        pytest.param(GUEST, "quiet", "6,812,99,-;eth0: link up\n", (None, None), id="log that has forgotten the boot"),
    ],
)
def test_what_the_kernel_said_of_a_hypervisor_is_recorded_beside_the_guess(
    tmp_path: Path, info: str, words: str, log: str | None, expected: tuple[bool | None, tuple[str, ...] | None]
) -> None:
    put(tmp_path, "proc/cpuinfo", info)
    put(tmp_path, "proc/cmdline", words)
    if log is not None:
        put(tmp_path, "dev/kmsg", log)
    assert (collect_machine(tmp_path).nested, collect_system(None, tmp_path).boot_messages) == expected


def test_what_is_recorded_of_the_log_has_an_end(tmp_path: Path) -> None:
    put(tmp_path, "dev/kmsg", "".join(f"6,{number},0,-;kvm: line {number}\n" for number in range(5_000)))
    found = system.boot_messages(tmp_path)
    assert found is not None
    assert len(found) == system.MOST_MESSAGES


@pytest.mark.parametrize(
    ("info", "name", "numbers"),
    [
        pytest.param(GUEST, "Zen 4", {"cpu family": "25", "model": "17", "stepping": "1"}, id="AMD"),
        pytest.param(
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\nstepping : 6\n",
            "Sunny Cove",
            {"cpu family": "6", "model": "106", "stepping": "6"},
            id="Intel",
        ),
        pytest.param(
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 167\nflags : fpu amx_tile amx_fp16\n",
            None,
            {"cpu family": "6", "model": "167"},
            id="numbers of another CPU",
        ),
        pytest.param(
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 173\nflags : fpu amx_tile amx_fp16\n",
            "Redwood Cove",
            {"cpu family": "6", "model": "173"},
            id="flags that agree",
        ),
        pytest.param("vendor_id : GenuineIntel\ncpu family : 6\n", None, {"cpu family": "6"}, id="no model"),
        pytest.param(
            "vendor_id : Unheard\ncpu family : 6\nmodel : 1\n", None, {"cpu family": "6", "model": "1"}, id="new"
        ),
        pytest.param(
            "CPU implementer : 0x41\nCPU variant : 0x3\nCPU part : 0xd0c\nCPU revision : 1\n",
            "Neoverse-N1",
            {"CPU implementer": "0x41", "CPU variant": "0x3", "CPU part": "0xd0c", "CPU revision": "1"},
            id="Arm",
        ),
        pytest.param("", None, {}, id="nothing"),
    ],
)
def test_a_cpu_is_known_by_its_numbers(tmp_path: Path, info: str, name: str | None, numbers: dict[str, str]) -> None:
    put(tmp_path, "proc/cpuinfo", info)
    found = collect_machine(tmp_path)
    assert (found.microarchitecture, found.cpu_numbers) == (name, numbers)


@needs("cc")
def test_exits_are_timed_where_the_program_can_be_compiled(tmp_path: Path) -> None:
    found = trap_times(0, tmp_path)
    assert set(found) == (set(KEYS) if MACHINE == "x86_64" else set())
    assert all(0 < time_ns < 1e9 for time_ns in found.values())
    assert collect_system(None, tmp_path, found).cpuid_ns == found.get("cpuid_ns")


def test_without_a_compiler_exits_are_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trap_times(0, tmp_path) == {}


def id_of(kernel_release: str = "5.15.0-91-generic", **facts: object) -> str:
    usual = {"cpu_model": "Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz", "threads": 32, "memory_bytes": 400 * 2**30}
    changes = {f"machine__{key}": value for key, value in (usual | facts).items()}
    return with_id(machine_document(**changes).machine, ("6", "85", "7"), kernel_release).id


def test_a_machine_id_is_a_readable_slug() -> None:
    name = id_of()
    assert name.startswith("intel-xeon-gold-6226r-32t-")
    assert len(name.rsplit("-", 1)[1]) == 4
    assert id_of(cpu_model="AMD EPYC", threads=2, virtualization="KVM").startswith("amd-epyc-2t-kvm-")


def test_a_machine_id_changes_with_the_kernel_but_not_with_a_few_bytes_of_memory() -> None:
    assert id_of("6.1.0") != id_of()
    assert id_of(memory_bytes=400 * 2**30 + 4096) == id_of()


def test_this_machine_can_be_described() -> None:
    machine, running = collect_machine(), collect_system(24.0)
    assert machine.threads >= 1
    assert running.clock_read_ns == 24.0
    assert machine.id
