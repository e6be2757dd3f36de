"""Why counts changed: read from a file, and found for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import counted_rows, counted_values, write_counted_submission
from probe_effect.checks.run import check_all
from probe_effect.compare.kernels import between_kernels, between_versions, explanation_of, matrices
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.beside_files import read_explanations
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem

OLD, NEW = "6.1.0-50-amd64", "6.12.107+deb13-amd64"
VALUES = {
    "id": '"a"',
    "cases": '["19-fentry"]',
    "of": '"kernel"',
    "before": '"6.3"',
    "since": '"6.4"',
    "change": '"more"',
    "says": '"It does more."',
    "references": '["r"]',
    "certainty": '"read"',
}
REFERENCE = (
    'schema_version = 1\n[[reference]]\nid = "r"\nsays = "It does."\nproject = "A"\nplace = "a.c"\n'
    'url = "https://example.org/blob/v1/a.c"\n'
)


def explained(data: Path, *entries: dict[str, str]) -> None:
    """A file of explanations, each with what differs from `VALUES`."""
    texts = [
        "[[explanation]]\n" + "".join(f"{key} = {value}\n" for key, value in (VALUES | one).items()) for one in entries
    ]
    (data / "explanations.toml").write_text("schema_version = 1\n" + "\n".join(texts), encoding="utf-8")
    (data / "references.toml").write_text(REFERENCE, encoding="utf-8")


def counted(data: Path, kernel: str, costs: dict[str, float], tools: dict[str, str] | None = None) -> None:
    """What was counted in a machine with `kernel`."""
    values = counted_values(kernel, f"qemu-{kernel.replace('.', '-').replace('+', '-')}")
    values["tools"] |= tools or {}
    write_counted_submission(data, counted_rows(costs), values)


def reasons(data: Path) -> list[str | None]:
    """The explanation of each change, kernels before versions."""
    catalogue = read_catalogue(DataFolder(data))
    changes = [one for each in matrices(catalogue) for one in (*between_kernels(each), *between_versions(each))]
    found = [explanation_of(one, catalogue.explanations) for one in changes]
    return [one.id if one else None for one in found]


def problems(data: Path) -> list[Problem]:
    return [one for one in check_all(DataFolder(data)) if one.rule.startswith("explanation")]


@pytest.fixture
def kernels(data: Path) -> Path:
    """A case that takes more instructions on the second of two kernels."""
    counted(data, OLD, {"19-fentry bpftrace": 100})
    counted(data, NEW, {"19-fentry bpftrace": 200})
    return data


def test_a_change_across_the_version_that_an_explanation_names_has_it(kernels: Path) -> None:
    explained(kernels, {})
    assert reasons(kernels) == ["a"]


@pytest.mark.parametrize(
    "other",
    [
        {"before": '"5.10"', "since": '"5.11"'},
        {"before": '"6.12"', "since": '"6.13"'},
        {"change": '"fewer"'},
        {"cases": '["20-fexit"]'},
        {"tools": '["libbpf"]'},
        {"architectures": '["aarch64"]'},
        {"of": '"tool"'},
    ],
)
def test_a_change_of_another_version_direction_case_tool_or_architecture_has_it_not(
    kernels: Path, other: dict[str, str]
) -> None:
    explained(kernels, other)
    assert reasons(kernels) == [None]


@pytest.mark.parametrize(
    ("first", "second", "counts", "found"),
    [
        pytest.param("6.12.43", "6.12.107", (100, 200), "a", id="an update brought it"),
        pytest.param("6.1.0-50", "6.12.107", (100, 200), "a", id="the later has the update"),
        pytest.param("6.12.93", "6.12.107", (100, 200), None, id="both have the update"),
        pytest.param("6.1.0-50", "6.12.92", (100, 200), None, id="none has the update"),
        pytest.param("6.12.107", "6.16.12", (200, 100), "a", id="the next series has it not"),
        pytest.param("6.12.107", "6.16.12", (100, 200), None, id="nor does it make more without it"),
        pytest.param("6.16.12", "6.17.13", (100, 200), "a", id="a series brought it"),
        pytest.param("6.12.107", "6.17.13", (100, 200), None, id="by an update and by the series"),
        pytest.param("6.18.5", "7.2.12", (200, 100), "a", id="it was undone"),
        pytest.param("6.16.12", "7.2.12", (100, 200), None, id="it came and was undone"),
    ],
)
def test_a_change_is_explained_where_one_kernel_has_what_made_it(
    data: Path, first: str, second: str, counts: tuple[float, float], found: str | None
) -> None:
    for kernel, count in zip((first, second), counts, strict=True):
        counted(data, f"{kernel}+deb13-amd64", {"19-fentry bpftrace": count})
    explained(data, {"before": '"6.16"', "since": '"6.17"', "until": '"7.1"', "stable": '["6.12.93"]'})
    assert reasons(data) == [found]


def test_a_change_from_version_to_version_of_a_tool_has_that_of_the_tool(data: Path) -> None:
    tools = {"bpftrace": "bpftrace v0.17.0", "bpftrace-0-23-2": "bpftrace v0.23.2"}
    counted(data, OLD, {"19-fentry bpftrace": 200, "19-fentry bpftrace-0-23-2": 100}, tools)
    own = {"of": '"tool"', "tools": '["bpftrace"]', "before": '"0.19"', "since": '"0.20"', "change": '"fewer"'}
    explained(data, own)
    assert reasons(data) == ["a"]


def test_counts_that_do_not_differ_have_no_explanation(data: Path) -> None:
    for kernel in (OLD, NEW):
        counted(data, kernel, {"19-fentry bpftrace": 100})
    explained(data, {})
    assert reasons(data) == [None]


def test_a_sound_explanation_is_no_problem(kernels: Path) -> None:
    explained(kernels, {})
    assert problems(kernels) == []


def test_a_change_whose_functions_alone_are_known_has_an_unknown_cause_without_references(kernels: Path) -> None:
    explained(kernels, {"references": "[]", "certainty": '"unknown"'})
    assert (reasons(kernels), problems(kernels)) == (["a"], [])


@pytest.mark.parametrize("other", [{"references": '["nobody"]'}, {"cases": '["19-fentry", "99-nothing"]'}])
def test_an_explanation_that_names_what_is_not_there_is_an_error(kernels: Path, other: dict[str, str]) -> None:
    explained(kernels, other)
    found = problems(kernels)[0]
    assert (found.rule, found.severity) == ("explanation-names", "error")
    assert "nobody" in found.message or "99-nothing" in found.message


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([{"id": '"b"'}, {}], "sort by id"),
        ([{}, {}], "sort by id"),
        ([{"before": '"6.4"'}], "no older than"),
        ([{"until": '"6.3"'}], "is older than"),
        ([{"stable": '["6.12"]'}], "stable"),
        ([{"certainty": '"sure"'}], "certainty"),
        ([{"certainty": '"unknown"'}], "references"),
        ([{"references": "[]"}], "references"),
        ([{"since": '"7"'}], "since"),
    ],
)
def test_an_unsound_explanation_is_a_problem_with_its_place(
    data: Path, entries: list[dict[str, str]], fault: str
) -> None:
    explained(data, *entries)
    found, told = read_explanations(DataFolder(data))
    assert found == ()
    assert fault in told[0].message
    assert told[0].line


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert read_explanations(DataFolder(tmp_path)) == ((), [])
