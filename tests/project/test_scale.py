"""Made submissions pass `check` and come out the same again; the bench runs, and its page says how far it got."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from statistics import median
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from evidence import scale, scale_ground, scale_run
from evidence.honest import committed, honest, write_honest
from evidence.scale_growth import FAR, exponent, extrapolated, growth
from evidence.scale_measured import ADDED, AGAIN, ALL, COLD, ONE, Build, Measured, Timing, seconds
from evidence.scale_report import Conditions, Report, markdown
from evidence.scale_run import failure, run, step_name, steps
from evidence.scale_site import SiteSize, site_size
from evidence.scale_targets import MOST_SITE_BYTES
from evidence.scale_watch import Used, Watch
from fakes.project import FAKES
from helpers.builders import REAL_DATA, machine_document
from probe_effect import units
from probe_effect.checks.run import SIGNS, check_all
from probe_effect.model import ProbeEffectError, UsageError
from probe_effect.numbers.names import tier
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evidence.honest import Visit
    from probe_effect.model import Sample

pytestmark = pytest.mark.deep

NUMBER = 12
SINCE = datetime(2024, 12, 1, tzinfo=UTC)
MIB = 1 << 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """Made submissions beside the suites that they are of."""
    root = tmp_path_factory.mktemp("honest") / "data"
    shutil.copytree(REAL_DATA / "suites", root / "suites")
    found = DataFolder(root)
    write_honest(found, NUMBER, SINCE)
    return found


def contents(folder: DataFolder) -> dict[str, bytes]:
    paths = (path for path in folder.results.rglob("*") if path.is_file())
    return {path.relative_to(folder.root).as_posix(): path.read_bytes() for path in paths}


def test_made_submissions_pass_check_as_they_are_without_a_sign_of_forgery(data: DataFolder) -> None:
    problems = check_all(data)
    assert [problem for problem in problems if problem.severity == "error"] == []
    assert {problem.rule for problem in problems} & SIGNS.keys() == set()
    assert len(data.submissions()) == NUMBER


def test_the_first_submissions_of_many_are_those_of_few(data: DataFolder, tmp_path: Path) -> None:
    few = DataFolder(tmp_path / "data")
    before = write_honest(few, NUMBER - 1, SINCE)
    assert contents(few).items() <= contents(data).items()
    assert [one.id for one in write_honest(few, NUMBER, SINCE)[:-1]] == [one.id for one in before]
    assert contents(few) == contents(data)


def test_a_submission_that_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    (files,) = write_honest(DataFolder(tmp_path), 1, SINCE)
    files.samples.write_text("changed")
    write_honest(DataFolder(tmp_path), 1, SINCE)
    assert files.samples.read_text() == "changed"


def test_nothing_made_goes_below_the_real_data() -> None:
    with pytest.raises(UsageError, match="elsewhere"):
        write_honest(DataFolder(REAL_DATA / "results"), 1, SINCE)
    assert not (REAL_DATA / "results" / "results").exists()


def test_a_machine_has_three_submissions_in_the_mean_with_the_same_facts_days_apart() -> None:
    made = list(islice(honest(), 300))
    by_machine: dict[str, list[Visit]] = {}
    for one in made:
        by_machine.setdefault(one.made.machine.id, []).append(one)
    assert 2.5 < len(made) / len(by_machine) < 3.5
    for some in by_machine.values():
        assert len({one.like.document.machine.id for one in some}) == 1
        assert all(later.began - earlier.began > timedelta(days=1) for earlier, later in pairwise(some))


def test_submissions_are_of_many_suites_kinds_of_machines_and_both_instruction_sets() -> None:
    made = list(islice(honest(), 300))
    suites = {one.document.run.suite for one in committed()}
    assert len({one.like.document.run.suite for one in made}) > len(suites) / 2
    assert {tier(one.made.machine, "time") for one in made} == {"physical", "virtual machine"}
    assert {one.made.machine.architecture for one in made} == {"x86_64", "aarch64"}


def test_a_histogram_is_of_as_many_operations_as_its_run_at_the_speed_of_its_machine() -> None:
    tail = next(one for one in honest() if any(row.histogram for row in one.like.rows))
    given = tail.given()
    rows = [row for row in given.rows if row.histogram]
    assert rows
    assert all(sum(bucket.operations for bucket in row.histogram) == (row.operations or row.events) for row in rows)
    assert median_ns(rows) / median_ns(tail.like.rows) == pytest.approx(tail.made.speed, rel=0.1)


def median_ns(rows: Iterable[Sample]) -> float:
    """Half of the operations that were timed took less."""
    return median(bucket.low_ns for row in rows for bucket in row.histogram for _ in range(bucket.operations // 100))


def used(whole_s: float, child: str = "hugo") -> Used:
    return Used(
        seconds=whole_s,
        cpu_s=2 * whole_s,
        own_peak_bytes=100 * MIB,
        child=child,
        child_peak_bytes=200 * MIB if child else 0,
        together_bytes=300 * MIB,
        beside_hugo_bytes=120 * MIB,
    )


def measured(submissions_made: int, whole_s: float, *, total_bytes: int = MIB) -> Measured:
    build = Build(whole=used(whole_s), steps=(("start", 1.0), ("Hugo", whole_s - 1)), hugo=used(whole_s / 4, ""))
    site = SiteSize(
        pages=submissions_made * 30,
        files=submissions_made * 40,
        total_bytes=total_bytes,
        numbers=submissions_made * 27,
        numbers_bytes=submissions_made * 27 * 2048,
        largest_page="costs/index.html",
        largest_page_bytes=4096,
        home_bytes=2048,
        home_scripts_bytes=1024,
        calculator_data_bytes=None,
    )
    return Measured(
        submissions=submissions_made,
        machines=submissions_made // 2,
        builds=dict.fromkeys((COLD, AGAIN, ADDED), build),
        site=site,
        commands={"review HEAD": Timing(seconds=2.5, peak_bytes=50 * MIB, runs=3)},
        signs_s={ALL: whole_s / 2, ONE: 0.5},
        is_whole=True,
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
    return Report(conditions=conditions, beside=9, suites={"per-event": 2}, sizes=list(sizes), failed=list(failed))


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
    times = "500 | 27 000 | cold | 400 s | 100 s | 4.00 | 800 s | 200 s"
    cold = f"{times} | 100 MiB | hugo 200 MiB | 300 MiB | 120 MiB | 100 MiB".split(" | ")
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
    broken = measured(3000, 1.0).model_copy(update={"builds": {}})
    assert "| 300 |" in growth([measured(10, 1.0), measured(300, 9.0), broken]).replace(units.GROUP, "")
    assert growth([measured(10, 1.0), broken]) == ""


def test_the_page_is_whole_before_everything_is_measured() -> None:
    assert "## Builds" not in markdown(report())
    started = Measured(submissions=300, machines=150)
    page = markdown(report(measured(10, 3.0), started, failed=("300 submissions: build, cold",)))
    assert "## Growth" not in page
    assert "- 300 submissions: build, cold" in page


def test_steps_are_what_a_build_says_less_how_many() -> None:
    assert step_name("  12 charts\n") == "charts"
    assert {step_name(f"  {line}\n") for line in ("numbers of 216 submissions, 2 at a time", "74 of 216")} == {
        "numbers"
    }
    assert step_name("57 pages. To look at them: make serve\n") == "end"
    said = [("  pages\n", 2.0), ("  12 charts\n", 3.0), ("57 pages.\n", 9.0)]
    assert steps(said, 10.0) == (("start", 2.0), ("pages", 1.0), ("charts", 6.0), ("end", 1.0))


def test_a_site_is_measured_as_browsers_get_it(tmp_path: Path) -> None:
    home = '<script type="module" src="/js/a.js"></script><a class="advise-data" href="/data/costs.json?x">Costs</a>'
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


def invoke(*words: str) -> Result:
    return CliRunner().invoke(scale.main, words)


def test_a_size_that_cannot_be_built_leaves_the_page_with_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(ground: scale_ground.Ground, name: str) -> Build:
        msg = f"{ground.project}: {name}"
        raise ProbeEffectError(msg)

    monkeypatch.setattr(scale_ground.Ground, "build", fails)
    out = tmp_path / "RESULTS.md"
    made = invoke("--sizes", "3", "--out", str(out), "--keep", str(tmp_path / "kept"))
    assert made.exit_code == 1
    assert "- 3 submissions: build, cold" in out.read_text()
    assert str(tmp_path) not in out.read_text()
    project = tmp_path / "kept" / "size-3"
    assert (project / "site" / "hugo.toml").is_file()
    assert len(DataFolder(project / "data").submissions()) == len(DataFolder(REAL_DATA).submissions()) + 3


@pytest.mark.site
@pytest.mark.xdist_group("scale")
def test_the_bench_of_a_few_submissions_measures_everything_and_need_not_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES / "drawing"))
    monkeypatch.setattr(scale_run, "RUNS", 1)
    out = tmp_path / "RESULTS.md"
    words = ("--alone", "--sizes", str(NUMBER), "--out", str(out))
    made = invoke(*words)
    assert made.exit_code == 0, made.output
    page = out.read_text()
    found = rows(page)
    for name in ("build, cold, over Hugo alone", "the whole site", "`predict`", "`review`", "`check`"):
        assert units.MISSING not in found[name]
    assert "## Not measured" not in page
    again = invoke(*words, "--resume")
    assert again.exit_code == 0
    assert "build, cold" not in again.stderr
    assert out.read_text() == page


def test_what_was_measured_under_other_conditions_is_not_taken(tmp_path: Path) -> None:
    out = tmp_path / "RESULTS.md"
    scale.known_beside(out).write_text(report(measured(3, 1.0)).model_dump_json())
    made = invoke("--sizes", "3", "--out", str(out), "--resume")
    assert made.exit_code == 2
    assert "--resume" in made.stderr


def test_a_target_is_met_or_not_and_one_without_a_figure_says_so() -> None:
    small = measured(10, 3.0, total_bytes=int(MOST_SITE_BYTES))
    large = measured(1000, 40.0, total_bytes=int(MOST_SITE_BYTES) + 1_000_000)
    assert rows(markdown(report(small)))["the whole site"] == ["1 000 MB", "1 000 MB", "yes"]
    found = rows(markdown(report(small, large)))
    assert found["the whole site"][-1] == "**no**"
    assert found["build, cold, over Hugo alone"] == ["4.00", "4.00", "yes"]
    assert found["`predict`"] == ["1.00 s", units.MISSING, units.MISSING]


@pytest.mark.parametrize("sizes", ["-1", "ten", "10,,20", ""])
def test_sizes_that_are_none_are_refused(sizes: str, tmp_path: Path) -> None:
    made = invoke("--sizes", sizes, "--out", str(tmp_path / "RESULTS.md"))
    assert made.exit_code == 2
    assert "expected numbers" in made.output
