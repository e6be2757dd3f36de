"""Synthetic data is sound and the same again; the page of `benchmarks.scale` says what was measured, however far."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from benchmarks import scale
from benchmarks.scale_growth import FAR, exponent, extrapolated, growth
from benchmarks.scale_measured import ADDED, AGAIN, COLD, Build, Measured, Timing, seconds
from benchmarks.scale_report import Conditions, Report, markdown
from benchmarks.scale_run import failure, run, step_name, steps
from benchmarks.scale_site import SiteSize, site_size
from benchmarks.scale_watch import Used, Watch
from benchmarks.synthetic import TEMPLATES, numbers, submissions, templates, write_data
from benchmarks.synthetic_machines import HARDWARE, LAST_DAY, machines
from click.testing import CliRunner

from builders import REAL_DATA, machine_document
from probe_effect import units
from probe_effect.checks.run import check_all
from probe_effect.errors import ProbeEffectError, UsageError
from probe_effect.numbers.names import tier
from probe_effect.store.places import DataFolder
from probe_effect.store.samples import read_samples

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = 4
MIB = 1 << 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    root = tmp_path_factory.mktemp("synthetic") / "data"
    write_data(root, NUMBER)
    return DataFolder(root)


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_synthetic_data_has_no_errors_but_that_they_are_made_of_others(data: DataFolder) -> None:
    assert {problem.rule for problem in check_all(data) if problem.severity == "error"} <= {"two-signs"}
    assert len(data.submissions()) == NUMBER
    assert len(data.sources()) == len(DataFolder(REAL_DATA).sources())


def test_the_same_number_gives_the_same_bytes(data: DataFolder, tmp_path: Path) -> None:
    write_data(tmp_path / "data", NUMBER)
    assert contents(tmp_path / "data") == contents(data.root)


def test_another_seed_gives_other_rows(data: DataFolder, tmp_path: Path) -> None:
    write_data(tmp_path / "data", NUMBER, seed=1)
    assert contents(tmp_path / "data") != contents(data.root)


def test_the_first_submissions_of_many_are_those_of_few(data: DataFolder, tmp_path: Path) -> None:
    few = write_data(tmp_path / "data", NUMBER - 1)
    before = contents(tmp_path / "data")
    many = write_data(tmp_path / "data", NUMBER)
    assert many[:-1] == few
    assert contents(tmp_path / "data") == contents(data.root)
    assert contents(tmp_path / "data").items() >= before.items()


def test_a_submission_that_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    (folder,) = write_data(tmp_path / "data", 1)
    (folder / "samples.csv").write_text("changed")
    write_data(tmp_path / "data", 1)
    assert (folder / "samples.csv").read_text() == "changed"


def test_nothing_synthetic_goes_below_the_real_data() -> None:
    with pytest.raises(UsageError, match="elsewhere"):
        write_data(REAL_DATA / "results", 1)
    assert not (REAL_DATA / "results" / "suites").exists()


def test_rows_are_the_committed_ones_at_another_speed(data: DataFolder) -> None:
    made = next(submissions())
    real, _ = read_samples(REAL_DATA / "results" / TEMPLATES[0] / "samples.csv", "real")
    rows, _ = read_samples(made.place(data).samples, "made")
    assert [(row.case, row.tracer, row.events, row.note) for row in rows] == [
        (row.case, row.tracer, row.events, row.note) for row in real
    ]
    ratios = [mine.wall_ns / one.wall_ns for mine, one in zip(rows, real, strict=True) if mine.wall_ns and one.wall_ns]
    assert len(set(ratios)) > len(ratios) / 2
    assert all(0.9 < ratio / made.machine.speed < 1.1 for ratio in ratios)


def test_numbers_are_the_cases_with_a_cost() -> None:
    assert numbers(len(TEMPLATES) + 1) == sum(one.numbers for one in templates()) + templates()[0].numbers
    assert 26_000 < numbers(1000) < 30_000


def test_few_machines_are_of_every_tier_and_both_instruction_sets() -> None:
    made = list(islice(machines(1), len(HARDWARE)))
    assert {tier(one.machine, "time") for one in made} == {"physical", "virtual machine", "nested virtual machine"}
    assert {one.machine.architecture for one in made} == {"x86_64", "aarch64"}


def test_no_two_machines_share_an_id_and_no_run_is_of_the_future() -> None:
    made = list(islice(machines(1), 2000))
    assert len({one.machine.id for one in made}) == len(made)
    assert {len(one.days) for one in made} == {1, 2, 3}
    assert max(day for one in made for day in one.days) <= LAST_DAY


def used(whole_s: float, child: str = "hugo") -> Used:
    return Used(
        seconds=whole_s,
        cpu_s=2 * whole_s,
        own_peak_bytes=100 * MIB,
        child=child,
        child_peak_bytes=200 * MIB if child else 0,
        together_bytes=300 * MIB,
    )


def measured(submissions_made: int, whole_s: float) -> Measured:
    build = Build(whole=used(whole_s), steps=(("start", 1.0), ("Hugo", whole_s - 1)), hugo=used(whole_s / 4, ""))
    site = SiteSize(
        pages=submissions_made * 30,
        files=submissions_made * 40,
        total_bytes=submissions_made * MIB,
        largest_page="costs/index.html",
        largest_page_bytes=4096,
        home_bytes=2048,
        home_scripts_bytes=1024,
        calculator_data_bytes=None,
    )
    return Measured(
        submissions=submissions_made,
        machines=submissions_made // 2,
        numbers=submissions_made * 27,
        builds=dict.fromkeys((COLD, AGAIN, ADDED), build),
        site=site,
        commands={"review HEAD": Timing(seconds=2.5, peak_bytes=50 * MIB, runs=3)},
    )


def report(*sizes: Measured, failed: tuple[str, ...] = ()) -> Report:
    conditions = Conditions(
        machine=machine_document().machine,
        kernel_release="6.12.1-amd64",
        load_before=0.25,
        file_system="tmpfs",
        date="2026-11-22",
        versions={"Hugo": "1.2.3"},
    )
    return Report(conditions=conditions, templates=TEMPLATES, sizes=list(sizes), failed=list(failed))


def rows(page: str) -> dict[str, list[str]]:
    """First cell of each row of any table to the others; plain blanks."""
    plain = page.replace(units.GAP, " ").replace(units.GROUP, " ")
    lines = [line.strip("| ").split(" | ") for line in plain.splitlines() if line.startswith("| ")]
    return {first: rest for first, *rest in lines}


def test_the_page_has_conditions_builds_site_commands_and_growth() -> None:
    page = markdown(report(measured(300, 40.0), measured(1000, 400.0)))
    found = rows(page)
    assert found["kernel"] == ["6.12.1-amd64"]
    assert found["load before"] == ["0.25"]
    cold = (
        "500 | 27 000 | cold | 400 s | 100 s | 4.00 | 800 s | 200 s | 100 MiB | hugo 200 MiB | 300 MiB | 100 MiB".split(
            " | "
        )
    )
    assert cold in [line.strip("| ").split(" | ")[1:] for line in plain_lines(page)]
    assert found["largest page, gzip"] == ["4.00 KiB", "4.00 KiB", "0.00", "4.00 KiB"]
    assert "4.00 KiB (`costs/index.html`)" in plain(page)
    assert found["its calculator's data, gzip"] == [units.MISSING, units.MISSING]
    assert found["home page with both, gzip"] == ["3.00 KiB", "3.00 KiB", "0.00", "3.00 KiB"]
    assert found["build, cold"] == ["40.0 s", "400 s", "1.91", plain(seconds(400 * 10**1.9125))]
    assert "2.50 s, 50.0 MiB" in plain(page)


def plain(text: str) -> str:
    return text.replace(units.GAP, " ").replace(units.GROUP, " ")


def plain_lines(page: str) -> list[str]:
    return plain(page).splitlines()


def test_growth_is_an_exponent_that_goes_on() -> None:
    assert exponent((300, 3.0), (1000, 10.0)) == pytest.approx(1)
    assert exponent((10, 5.0), (1000, 5.0)) == 0
    assert extrapolated((1000, 10.0), 2) == pytest.approx(10 * (FAR / 1000) ** 2)


def test_growth_is_of_the_two_largest_sizes_that_were_built() -> None:
    broken = replace(measured(3000, 1.0), builds={})
    assert "| 300 |" in growth([measured(10, 1.0), measured(300, 9.0), broken]).replace(units.GROUP, "")
    assert growth([measured(10, 1.0), broken]) == ""


def test_the_page_is_whole_before_everything_is_measured() -> None:
    assert "## Builds" not in markdown(report())
    started = Measured(submissions=300, machines=150, numbers=8100)
    page = markdown(report(measured(10, 3.0), started, failed=("300 submissions: build, cold",)))
    assert "## Growth" not in page
    assert "- 300 submissions: build, cold" in page


def test_steps_are_what_a_build_says_less_how_many() -> None:
    assert step_name("  12 charts\n") == "charts"
    assert step_name("57 pages. To look at them: make serve\n") == "end"
    said = [("  pages\n", 2.0), ("  12 charts\n", 3.0), ("57 pages.\n", 9.0)]
    assert steps(said, 10.0) == (("start", 2.0), ("pages", 1.0), ("charts", 6.0), ("end", 1.0))


def test_a_site_is_measured_as_browsers_get_it(tmp_path: Path) -> None:
    home = '<script src="/js/a.js" defer></script><a class="calculator-data" href="/data/costs.json?x">Costs</a>'
    texts = {"index.html": home, "js/a.js": "let a;" * 99, "data/costs.json": "[]", "big/index.html": "word " * 999}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = site_size(tmp_path)
    gzipped = {name: len(gzip.compress(text.encode(), mtime=0)) for name, text in texts.items()}
    assert (found.pages, found.files) == (2, 4)
    assert found.total_bytes == sum(len(text) for text in texts.values())
    assert found.largest_page_bytes == max(gzipped["index.html"], gzipped["big/index.html"])
    assert (found.home_scripts_bytes, found.calculator_data_bytes) == (gzipped["js/a.js"], gzipped["data/costs.json"])
    assert found.calculator_bytes == sum(gzipped[name] for name in ("index.html", "js/a.js", "data/costs.json"))


HOLDER = """
import sys
taken = bytearray({mebibytes} << 20)
print("ready", flush=True)
sys.stdin.readline()
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print("ready", flush=True)
sys.stdin.readline()
child.communicate(b"\\n")
"""


def test_memory_of_a_program_and_of_its_children_is_told_apart() -> None:
    ours = bytearray(150 * MIB)
    with Watch() as watch:
        command = [sys.executable, "-c", PARENT, HOLDER.format(mebibytes=80)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            assert running.stdout is not None
            running.stdout.readline()
            watch.read()
            running.communicate(b"\n")
    found = watch.used()
    assert found.own_peak_bytes < 80 * MIB < found.child_peak_bytes < len(ours)
    assert found.child.startswith("python")
    assert found.together_bytes > found.child_peak_bytes
    assert found.cpu_s > 0


def test_a_command_that_fails_is_told_with_where_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ProbeEffectError, match="No such option") as caught:
        run("help", ["--no-such-option"], tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "--keep" in str(caught.value)
    assert "it said nothing" in str(failure("build", ["build"], tmp_path, -9, ""))


def test_a_size_that_cannot_be_built_leaves_the_page_with_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(ground: scale.Ground, name: str) -> Build:
        msg = f"{ground.data}: {name}"
        raise ProbeEffectError(msg)

    monkeypatch.setattr(scale.Ground, "build", fails)
    out = tmp_path / "RESULTS.md"
    made = CliRunner().invoke(scale.main, ["--sizes", "3", "--out", str(out), "--keep", str(tmp_path / "kept")])
    assert made.exit_code == 1
    assert "- 3 submissions: build, cold" in out.read_text()
    assert str(tmp_path) not in out.read_text()
    assert len(DataFolder(tmp_path / "kept" / "size-3" / "data").submissions()) == 3
    assert (tmp_path / "kept" / "project" / "site" / "hugo.toml").is_file()


@pytest.mark.parametrize("sizes", ["2", "ten", "10,,20", ""])
def test_sizes_that_are_none_are_refused(sizes: str, tmp_path: Path) -> None:
    made = CliRunner().invoke(scale.main, ["--sizes", sizes, "--out", str(tmp_path / "RESULTS.md")])
    assert made.exit_code == 2
    assert "expected numbers" in made.output
