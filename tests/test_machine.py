"""Facts about a machine come from the kernel's files, are None where those are absent, and name nobody."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from probe_effect import host
from probe_effect.machine import cpu, kernel, virtual
from probe_effect.machine.collect import HASH_DIGITS, choose_cpus, collect_machine, collect_system, machine_id

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
    facts = (cpu.cpu_model, cpu.microcode, cpu.sockets, cpu.cores, cpu.smt, cpu.memory_bytes, cpu.governor, cpu.turbo)
    settings = (kernel.os_name, kernel.bpf_jit, kernel.clocksource, virtual.virtualization)
    assert {fact(tmp_path) for fact in (*facts, *settings)} == {None}
    assert kernel.boot_flags(tmp_path) == ()
    assert kernel.kernel_options(tmp_path) == {}
    assert kernel.vulnerabilities(tmp_path) == {}


def test_the_first_processor_gives_the_model(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    assert cpu.cpu_model(tmp_path) == "AMD EPYC"
    assert cpu.microcode(tmp_path) == "0x1000065"
    assert cpu.signature(tmp_path)[:3] == ("25", "17", "1")


def test_an_arm_cpu_without_a_name_gives_its_numbers(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n")
    assert cpu.cpu_model(tmp_path) == "Neoverse-N1"
    put(tmp_path, "proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n")
    assert cpu.cpu_model(tmp_path) == "implementer 0x41 part 0xfff"


def test_cores_and_sockets_are_counted_once(tmp_path: Path) -> None:
    for number, (package, core) in enumerate([("0", "0"), ("0", "1"), ("1", "0"), ("1", "0")]):
        put_cpu(tmp_path, number, package, core, str(number))
    assert cpu.cores(tmp_path) == 3
    assert cpu.sockets(tmp_path) == 2


def test_memory_is_in_bytes(tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", "MemTotal:       24684096 kB\nMemFree: 1 kB\n")
    assert cpu.memory_bytes(tmp_path) == 24684096 * 1024


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
    assert cpu.turbo(tmp_path) is expected


def test_governors_that_differ_are_all_named(tmp_path: Path) -> None:
    for number, name in enumerate(("performance", "powersave", "performance")):
        put(tmp_path, f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor", name)
    assert cpu.governor(tmp_path) == "performance, powersave"


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
    assert cpu.siblings(tmp_path, 5) == expected


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
    assert kernel.boot_flags(tmp_path) == ("mitigations=off", "isolcpus=1-3", "nohz_full=1-3", "nopti", "nomodule")


def test_build_options_outside_the_list_are_never_recorded(tmp_path: Path) -> None:
    text = b'CONFIG_HZ=250\n# CONFIG_KPROBES is not set\nCONFIG_BUILD_SALT="alice"\nCONFIG_LOCALVERSION="-mine"\n'
    put(tmp_path, "proc/version", "")
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(text))
    assert kernel.kernel_options(tmp_path) == {"CONFIG_HZ": "250", "CONFIG_KPROBES": "n"}


def test_build_options_are_found_where_distributions_keep_them(tmp_path: Path) -> None:
    release = "6.1.0-50-amd64"
    put(tmp_path, "proc/sys/kernel/osrelease", release)
    put(tmp_path, f"lib/modules/{release}/config", "CONFIG_HZ=1000\n")
    assert host.kernel_config(tmp_path) == {"HZ": "1000"}
    put(tmp_path, f"boot/config-{release}", "CONFIG_HZ=100\n")
    assert host.kernel_config(tmp_path) == {"HZ": "100"}


def test_the_distribution_is_named(tmp_path: Path) -> None:
    put(tmp_path, "etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
    assert kernel.os_name(tmp_path) == "Debian GNU/Linux 12 (bookworm)"


def test_vulnerabilities_are_quoted(tmp_path: Path) -> None:
    put(tmp_path, "sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n")
    assert kernel.vulnerabilities(tmp_path) == {"meltdown": "Not affected"}


def test_a_machine_without_the_hypervisor_flag_is_bare_metal_whatever_its_firmware_says(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST.replace(" hypervisor", ""))
    put(tmp_path, "sys/class/dmi/id/sys_vendor", "Amazon EC2")
    assert virtual.virtualization(tmp_path) is None
    assert virtual.nested(tmp_path) is False


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(f"{kernel.CLOCK_FOLDER}/available_clocksource", "tsc kvm-clock", "KVM", id="clock source"),
        pytest.param("sys/hypervisor/type", "xen", "Xen", id="/sys/hypervisor"),
        pytest.param("sys/class/dmi/id/product_name", "VMware Virtual Platform", "VMware", id="firmware"),
        pytest.param("proc/uptime", "1", virtual.UNNAMED, id="no sign of which"),
    ],
)
def test_a_guest_names_its_hypervisor_by_the_surest_sign(tmp_path: Path, path: str, text: str, expected: str) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    put(tmp_path, path, text)
    assert virtual.virtualization(tmp_path) == expected


def test_nesting_is_known_only_from_a_sign(tmp_path: Path) -> None:
    put(tmp_path, "proc/cpuinfo", GUEST)
    assert virtual.nested(tmp_path) is None
    put(tmp_path, "proc/cmdline", "quiet nested_pvm=1 panic=1")
    assert virtual.nested(tmp_path) is True


FACTS = {
    "cpu_model": "Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz",
    "signature": ("6", "85", "7"),
    "microcode": "0x5003303",
    "threads": 32,
    "memory_bytes": 400 * 2**30,
    "virtualization": None,
    "kernel_release": "5.15.0-91-generic",
}


def test_a_machine_id_is_a_readable_slug() -> None:
    name = machine_id(**FACTS)  # type: ignore[arg-type]
    assert name.startswith("intel-xeon-gold-6226r-32t-")
    assert len(name.rsplit("-", 1)[1]) == HASH_DIGITS
    guest = machine_id(**(FACTS | {"cpu_model": "AMD EPYC", "threads": 2, "virtualization": "KVM"}))  # type: ignore[arg-type]
    assert guest.startswith("amd-epyc-2t-kvm-")


def test_a_machine_id_changes_with_the_kernel_but_not_with_a_few_bytes_of_memory() -> None:
    name = machine_id(**FACTS)  # type: ignore[arg-type]
    assert machine_id(**(FACTS | {"kernel_release": "6.1.0"})) != name  # type: ignore[arg-type]
    assert machine_id(**(FACTS | {"memory_bytes": 400 * 2**30 + 4096})) == name  # type: ignore[arg-type]


def test_this_machine_can_be_described() -> None:
    machine, system = collect_machine(), collect_system(24.0)
    assert machine.threads >= 1
    assert system.clock_read_ns == 24.0
    assert machine.id
