"""Every machine has a name and an identity of its own, and the record is of the core that was measured."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from probe_effect.host.system import container, numbered
from probe_effect.host.this_machine import choose_cpus, collect_machine, collect_system, kinds, warnings

CPUS = "sys/devices/system/cpu"
FOLDER = Path(__file__).parents[1] / "data" / "machines"
"""Machines as their kernels tell of them, each with what should be found."""

FACTS = "cpu_model microarchitecture virtualization sockets cores threads smt turbo governor core_kinds".split()
OF_ONE_MACHINE = ("c0ffee", "abad1dea", "0AB123")
"""Numbers of their own that some of them have, which are never recorded."""


def put(root: Path, path: str, text: object) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n", encoding="utf-8")


def machine(root: Path, *processors: str, online: str = "", **files: object) -> Path:
    """A machine of these blocks of `/proc/cpuinfo`; `files` below the folder of CPUs, `_in_` for `/`."""
    blocks = (f"processor : {number}\n{block}" for number, block in enumerate(processors))
    put(root, "proc/cpuinfo", "\n\n".join(blocks))
    put(root, f"{CPUS}/online", online or f"0-{len(processors) - 1}")
    put(root, "proc/meminfo", "MemTotal: 8388608 kB")
    put(root, "proc/sys/kernel/osrelease", "6.12.38-generic")
    for name, text in files.items():
        put(root, f"{CPUS}/{name.replace('_in_', '/')}", text)
    return root


MACHINES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def laid_out(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Lay out the files of a machine and be on the CPUs that its shell may use; returns what should be found.

    A text below `cpus` is for each CPU of a list: a block of `/proc/cpuinfo`, or a file of its folder.
    """
    document = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    blocks = []
    for cpus, texts in document["cpus"].items():
        for cpu in sorted(numbered(cpus)):
            place = {"cpu": cpu, "core": cpu // 2, "pair": f"{cpu & ~1}-{cpu | 1}"}
            for path, text in texts.items():
                if path == "cpuinfo":
                    blocks.append(f"processor : {cpu}\n{text.format(**place)}")
                else:
                    put(root, f"{CPUS}/cpu{cpu}/{path}", text.format(**place))
    put(root, "proc/cpuinfo", "\n".join([*blocks, document.get("cpuinfo_end", "")]))
    for path, text in document["files"].items():
        put(root, path, text)
    online = numbered(document["files"][f"{CPUS}/online"])
    may_use(monkeypatch, *numbered(document["usable"]) if "usable" in document else online)
    monkeypatch.setattr("probe_effect.host.this_machine.may_use", online.__contains__)
    found: dict[str, Any] = document["expected"]
    return found


def found_of(root: Path) -> dict[str, Any]:
    """What our commands find of a machine; without what it does not have."""
    machine, (cpu, tracer_cpu) = collect_machine(root), choose_cpus(root)
    facts = {key: getattr(machine, key) for key in FACTS}
    ids = [one.id for one in warnings(root, cpu=cpu, tracer_cpu=tracer_cpu)]
    whole = {**facts, "workload_cpu": cpu, "tracer_cpu": tracer_cpu, "conditions": ids}
    return {key: value for key, value in whole.items() if value not in (None, {})}


@pytest.mark.parametrize("name", MACHINES)
def test_what_is_found_of_a_machine_is_what_it_has(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = laid_out(tmp_path, name, monkeypatch)
    assert found_of(tmp_path) == expected
    record = collect_machine(tmp_path).model_dump_json() + collect_system(None, tmp_path).model_dump_json()
    assert not [number for number in OF_ONE_MACHINE if number in record]


def test_machines_of_different_hardware_have_different_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = set()
    for name in MACHINES:
        laid_out(tmp_path / name, name, monkeypatch)
        ids.add(collect_machine(tmp_path / name).id)
    assert len(ids) == len(MACHINES)


def may_use(monkeypatch: pytest.MonkeyPatch, *cpus: int) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(cpus))


def arm(implementer: str, part: str) -> str:
    return f"CPU implementer : {implementer}\nCPU variant : 0x1\nCPU part : {part}\nCPU revision : 0"


def intel(model: str, name: str = "Intel(R) Core(TM)") -> str:
    return f"vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nmodel name : {name}\nstepping : 1"


def risc_v(**numbers: str) -> str:
    return "\n".join(["isa : rv64imafdc", *(f"{key} : {value}" for key, value in numbers.items())])


@pytest.mark.parametrize(
    ("processor", "name"),
    [
        pytest.param(risc_v(uarch="sifive,u74-mc", mvendorid="0x489"), "sifive,u74-mc", id="RISC-V"),
        pytest.param(risc_v(mvendorid="0x710"), "RISC-V vendor 0x710 ", id="RISC-V without a name"),
        pytest.param("cpu : POWER10 (architected), altivec supported", "POWER10 (architected)", id="POWER"),
        pytest.param("package : 0\nModel Name : Loongson-3A6000", "Loongson-3A6000", id="LoongArch"),
        pytest.param("cpu model : MIPS 1004Kc V2.15", "MIPS 1004Kc V2.15", id="MIPS"),
        pytest.param(arm("0x41", "0xd05"), "Cortex-A55", id="little Arm"),
        pytest.param(arm("0x41", "0xd81"), "Cortex-A720", id="new Arm"),
        pytest.param(arm("0x61", "0x023"), "Firestorm", id="Apple"),
        pytest.param(arm("0x70", "0x663"), "FTC663", id="Phytium"),
        pytest.param(arm("0x48", "0xd01"), "TaiShan-v110", id="Kunpeng"),
        pytest.param(arm("0x99", "0x001"), "implementer 0x99 part 0x001", id="unheard of"),
    ],
)
def test_every_maker_says_what_its_cpu_is_in_words_of_its_own(tmp_path: Path, processor: str, name: str) -> None:
    assert str(collect_machine(machine(tmp_path, processor)).cpu_model).startswith(name)


@pytest.mark.parametrize(
    ("model", "core"),
    [
        (170, "Redwood Cove / Crestmont"),
        (186, "Raptor Cove / Enhanced Gracemont"),
        (190, "Gracemont"),
        (189, "Lion Cove / Skymont"),
        (198, "Lion Cove / Skymont"),
    ],
)
def test_models_of_intel_since_2023_have_their_cores(tmp_path: Path, model: int, core: str) -> None:
    assert collect_machine(machine(tmp_path, intel(str(model)))).microarchitecture == core


def test_a_model_that_is_unknown_is_unknown(tmp_path: Path) -> None:
    unknown = intel("unknown", "Virtual CPU").replace("stepping : 1", "stepping : unknown")
    found = collect_machine(machine(tmp_path, unknown))
    assert (found.cpu_model, found.microarchitecture, found.cpu_numbers) == ("Virtual CPU", None, {"cpu family": "6"})


def test_two_machines_that_differ_in_any_way_have_different_ids(tmp_path: Path) -> None:
    different = [
        risc_v(uarch="sifive,u74-mc", mvendorid="0x489"),
        risc_v(uarch="thead,c910", mvendorid="0x5b7"),
        risc_v(mvendorid="0x710"),
        risc_v(mvendorid="0x31e"),
        "cpu : POWER9, altivec supported\nrevision : 2.2",
        "cpu : POWER9, altivec supported\nrevision : 2.3",
        arm("0x61", "0x022"),
        arm("0x61", "0x024"),
        arm("0x99", "0x001"),
        arm("0x99", "0x002"),
    ]
    ids = {collect_machine(machine(tmp_path / str(number), one)).id for number, one in enumerate(different)}
    assert len(ids) == len(different)


def test_boards_that_tell_no_cpu_are_told_apart_by_the_device_tree(tmp_path: Path) -> None:
    ids = set()
    for board in ("vendor,one", "vendor,two"):
        root = machine(tmp_path / board, "BogoMIPS : 48.00")
        put(root, "proc/device-tree/compatible", board)
        ids.add(collect_machine(root).id)
    assert len(ids) == 2


# Several kinds of cores


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two little and two big cores of Arm, as a board with this order has them."""
    may_use(monkeypatch, 0, 1, 2, 3)
    capacities: dict[str, Any] = {f"cpu{cpu}_in_cpu_capacity": 414 if cpu < 2 else 1024 for cpu in range(4)}
    return machine(tmp_path, *[arm("0x41", "0xd05")] * 2, *[arm("0x41", "0xd0b")] * 2, **capacities)


def test_a_run_on_the_other_kind_of_core_is_another_machines(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    big = collect_machine(board)
    may_use(monkeypatch, 0, 1)
    little = collect_machine(board)
    assert (little.cpu_model, choose_cpus(board)) == ("Cortex-A55", (1, 0))
    assert little.id != big.id


@pytest.fixture
def hybrid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An Intel machine with two performance cores, of two threads each, and two efficiency cores."""
    may_use(monkeypatch, *range(6))
    root = machine(tmp_path, *[intel("183")] * 6)
    for cpu, pair in enumerate(["0-1"] * 2 + ["2-3"] * 2):
        put(root, f"{CPUS}/cpu{cpu}/topology/thread_siblings_list", pair)
    put(root, "sys/devices/cpu_core/cpus", "0-3")
    put(root, "sys/devices/cpu_atom/cpus", "4-5")
    return root


def test_an_efficiency_core_is_a_machine_of_its_own(hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = collect_machine(hybrid)
    may_use(monkeypatch, 4, 5)
    assert collect_machine(hybrid).id != fast.id
    assert collect_machine(hybrid).core_kinds == fast.core_kinds


def test_cores_that_differ_by_a_few_per_cent_of_frequency_are_of_one_kind(tmp_path: Path) -> None:
    root = machine(tmp_path, *[intel("143")] * 3)
    for cpu, khz in enumerate((5_800_000, 5_500_000, 3_700_000)):
        put(root, f"{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq", khz)
    assert [kinds(root)[cpu].max_khz for cpu in range(3)] == [5_800_000, 5_800_000, 3_700_000]
    put(root, f"{CPUS}/cpu2/cpufreq/cpuinfo_max_freq", 5_600_000)
    assert kinds(root) == {}


# Isolated CPUs


def test_an_isolated_cpu_that_the_cgroup_lacks_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = machine(tmp_path, *[intel("143")] * 2, isolated="1")
    may_use(monkeypatch, 0)
    monkeypatch.setattr("probe_effect.host.this_machine.may_use", lambda _: False)
    assert choose_cpus(root) == (0, None)


# Containers that look like machines


def test_a_container_of_programs_is_the_machine_that_it_runs_on(tmp_path: Path) -> None:
    root = machine(tmp_path, intel("183"))
    outside = collect_machine(root).id
    put(root, ".dockerenv", "")
    assert (collect_machine(root).id, container(root)) == (outside, "docker")


def test_the_kind_of_a_container_is_read_where_its_first_process_has_it(tmp_path: Path) -> None:
    put(tmp_path, "proc/1/environ", "TERM=linux\0container=lxc\0HOME=/")
    assert container(tmp_path) == "lxc"
    put(tmp_path, "proc/1/environ", "container=<script>")
    assert container(tmp_path) == "unknown"
