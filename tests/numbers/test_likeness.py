"""Which measured machines are like a given one, and in what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import machine_document
from probe_effect.numbers.names import cpu_family
from probe_effect.numbers.shown import Facts, by_likeness, facts_of, likeness

GIVEN = Facts(
    machine="given",
    tier="virtual machine",
    architecture="x86_64",
    cpu_model="AMD EPYC 7763 64-Core Processor",
    kernel_release="6.18.44-fc",
)
TWIN = replace(GIVEN, machine="twin")
SIBLING = replace(GIVEN, machine="sibling", cpu_model="AMD EPYC 9654 96-Core Processor")
STRANGER = replace(GIVEN, machine="stranger", cpu_model="Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz")
OLDER = replace(GIVEN, machine="older", kernel_release="6.1.0-amd64")
PHYSICAL = replace(GIVEN, machine="physical", tier="physical")
ARM = replace(GIVEN, machine="arm", architecture="aarch64")
ALL = (ARM, PHYSICAL, OLDER, STRANGER, SIBLING, TWIN, GIVEN)


def test_the_machine_itself_comes_first_and_those_that_cannot_be_compared_last() -> None:
    found = by_likeness(GIVEN, ALL)
    assert [one.machine for one in found] == ["given", "twin", "older", "sibling", "stranger", "arm", "physical"]
    assert [one.comparable for one in found] == [True, True, True, True, True, False, False]


@given(st.permutations(ALL))
def test_the_order_does_not_depend_on_the_order_given(others: list[Facts]) -> None:
    assert by_likeness(GIVEN, others) == by_likeness(GIVEN, ALL)


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_two_machines_are_comparable_from_both_sides_or_from_none(one: Facts, other: Facts) -> None:
    assert likeness(one, other).comparable == likeness(other, one).comparable


@pytest.mark.parametrize(
    ("other", "reasons"),
    [
        (GIVEN, ("the same machine",)),
        (TWIN, ("same CPU name, AMD EPYC 7763 64-Core Processor", "same kernel, 6.18.44-fc", "virtual too")),
        (SIBLING, ("same family name, AMD EPYC", "same kernel, 6.18.44-fc", "virtual too")),
        (
            replace(TWIN, kernel_release="6.18.2"),
            (f"same CPU name, {GIVEN.cpu_model}", "same kernel 6.18", "virtual too"),
        ),
        (OLDER, (f"same CPU name, {GIVEN.cpu_model}", "another kernel, 6.1", "virtual too")),
        (STRANGER, (f"another CPU, {STRANGER.cpu_model}", "same kernel, 6.18.44-fc", "virtual too")),
        (PHYSICAL, ("physical, not virtual machine",)),
        (ARM, ("arm64, not x86-64",)),
        (replace(TWIN, cpu_model=None), ("CPU not known", "same kernel, 6.18.44-fc", "virtual too")),
    ],
)
def test_what_two_machines_have_in_common_is_said_in_words(other: Facts, reasons: tuple[str, ...]) -> None:
    assert likeness(GIVEN, other).reasons == reasons


def test_of_two_like_cpus_the_nearer_kernel_comes_first() -> None:
    kernels = ["5.10.0", "6.1.0", "6.12.3", "6.18.1", "6.18.44-fc", "7.0.1"]
    others = [replace(GIVEN, machine=f"linux-{kernel}", kernel_release=kernel) for kernel in kernels]
    found = [one.machine.removeprefix("linux-") for one in by_likeness(GIVEN, others)]
    assert found == ["6.18.44-fc", "6.18.1", "6.12.3", "6.1.0", "5.10.0", "7.0.1"]


def test_of_two_cpus_of_one_name_that_which_guards_branches_alike_comes_first_whatever_its_kernel() -> None:
    given = replace(GIVEN, branches="Retpolines")
    other = replace(GIVEN, machine="other", branches="Enhanced / Automatic IBRS")
    same = replace(given, machine="same", kernel_release="5.10.0")
    unknown = replace(GIVEN, machine="unknown", kernel_release="5.4.0")
    found = by_likeness(given, [other, same, unknown])
    assert [one.machine for one in found] == ["same", "unknown", "other"]
    assert "same guard of indirect branches, Retpolines" in found[0].reasons
    assert "another guard of indirect branches, Enhanced / Automatic IBRS" in found[2].reasons
    assert not any("branches" in reason for reason in found[1].reasons)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC"),
        ("AMD EPYC", "AMD EPYC"),
        ("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", "Intel Xeon Platinum"),
        ("12th Gen Intel(R) Core(TM) i7-1260P", "Intel Core"),
        ("AMD Ryzen 7 PRO 5850U with Radeon Graphics", "AMD Ryzen PRO"),
        ("4004", "4004"),
    ],
)
def test_a_cpu_family_is_the_name_without_what_tells_its_members_apart(model: str, family: str) -> None:
    assert cpu_family(model) == family


@pytest.mark.parametrize(
    ("virtualization", "nested", "tier"),
    [
        (None, None, "physical"),
        ("KVM", None, "virtual machine"),
        ("KVM", False, "virtual machine"),
        ("KVM", True, "virtual machine"),
        ("QEMU KVM", False, "booted guest"),
        ("QEMU KVM", True, "nested virtual machine"),
    ],
)
def test_the_facts_of_a_machine_are_those_of_its_document(
    virtualization: str | None, nested: bool | None, tier: str
) -> None:
    document = machine_document(machine__virtualization=virtualization, machine__nested=nested)
    found = facts_of(document.machine, "6.12.1-amd64")
    assert found == Facts(
        machine="test-machine",
        tier=tier,
        architecture="x86_64",
        cpu_model="Example CPU 9000",
        kernel_release="6.12.1-amd64",
    )


def test_instructions_counted_in_an_emulator_are_a_tier_of_their_own() -> None:
    assert facts_of(machine_document().machine, "6.12.1", "instructions").tier == "emulated"
