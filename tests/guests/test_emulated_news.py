"""What is new in Debian's archives: by what the submissions say that they were counted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import counted_values, machine_document, write_counted_submission
from probe_effect.cli import measure_run
from probe_effect.cli.measure import measure as command
from probe_effect.guests import news
from probe_effect.guests.debian import ARCHITECTURES
from probe_effect.guests.news import CountingTracer, Job, Offer, counted, duration_s, missing
from probe_effect.guests.qemu import CPUS
from probe_effect.model import HostNotReady, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from probe_effect.cli.measure_settings import MeasureOptions
    from probe_effect.guests.debian import GuestArchitecture
    from probe_effect.store.machine_file import MachineFile

OWN = CountingTracer("bpftrace", "bpftrace 0.17.0-1")
LATER = CountingTracer("bpftrace=bpftrace/trixie", "bpftrace 0.23.2-1")
FTRACE = CountingTracer("ftrace", None)
KERNEL = "linux-image-6.1.0-50-amd64 6.1.176-1"
OFFER = Offer("bookworm", "amd64", KERNEL, (OWN, LATER, FTRACE))
ABLE = {"per-event": {"bpftrace", "ftrace"}, "usdt": {"bpftrace"}}


def run(suite: str = "per-event", *packages: str, **changes: object) -> MachineFile:
    """A whole count of a suite, with ftrace and these packages."""
    found = {"kernel": f"{KERNEL} (bookworm)", **{name: f"{name} (trixie)" for name in packages}}
    defaults: dict[str, object] = {
        "run__metric": "instructions",
        "run__suite": suite,
        "run__packages": found,
        "run__blocks": 3,
        "machine__threads": CPUS,
        "tools": {"bpftrace": "bpftrace v0.17.0", "ftrace": "Linux 6.1"},
    }
    return machine_document(**defaults | changes)


def both(**changes: object) -> list[MachineFile]:
    """All that is followed, on one kernel."""
    packages = ("bpftrace 0.17.0-1", "bpftrace 0.23.2-1")
    return [run("per-event", *packages, **changes), run("usdt", *packages, **changes)]


def test_where_all_was_counted_nothing_is_new() -> None:
    assert missing([OFFER], both(), ABLE) == []


def test_a_kernel_that_nobody_counted_is_counted_with_every_suite_and_the_tracers_that_it_has_scripts_for() -> None:
    assert missing([OFFER], [], ABLE) == [
        Job(OFFER, "per-event", (OWN, LATER, FTRACE)),
        Job(OFFER, "usdt", (OWN, LATER)),
    ]


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param("linux-image-6.1.0-51-amd64 6.1.180-1", id="another name"),
        pytest.param("linux-image-6.1.0-50-amd64 6.1.177-1", id="another version of the same package"),
    ],
)
def test_a_point_release_of_a_kernel_is_new(kernel: str) -> None:
    offer = Offer("bookworm", "amd64", kernel, OFFER.tracers)
    assert len(missing([offer], both(), ABLE)) == 2
    assert not counted(kernel, both())
    assert counted(KERNEL, both())


def test_a_new_version_of_bpftrace_is_counted_alone() -> None:
    newer = CountingTracer("bpftrace=bpftrace/trixie", "bpftrace 0.24.0-1")
    offer = Offer("bookworm", "amd64", KERNEL, (OWN, newer, FTRACE))
    assert missing([offer], both(), ABLE) == [Job(offer, "per-event", (newer,)), Job(offer, "usdt", (newer,))]


def test_a_suite_that_is_missing_on_a_kernel_is_counted_there() -> None:
    assert missing([OFFER], both()[:1], ABLE) == [Job(OFFER, "usdt", (OWN, LATER))]


def test_a_kernel_that_two_releases_have_comes_once() -> None:
    again = Offer("trixie", "amd64", KERNEL, OFFER.tracers)
    assert {job.offer.release for job in missing([OFFER, again], [], ABLE)} == {"bookworm"}


def test_the_same_kernel_of_another_architecture_is_another() -> None:
    other = Offer("bookworm", "arm64", KERNEL.replace("amd64", "arm64"), OFFER.tracers)
    assert {job.offer.architecture for job in missing([OFFER, other], both(), ABLE)} == {"arm64"}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"run__ended": None}, id="cut short"),
        pytest.param({"run__metric": "time"}, id="of times"),
        pytest.param({"run__command": ["probe-effect", "measure", "--quick"]}, id="a first look"),
        pytest.param({"run__command": ["probe-effect", "measure", "--case", "02-kprobe"]}, id="of some cases"),
        pytest.param({"machine__threads": CPUS + 1}, id="on another machine"),
    ],
)
def test_what_is_no_whole_count_on_such_a_machine_leaves_it_new(changes: dict[str, object]) -> None:
    assert len(missing([OFFER], both(**changes), ABLE)) == 2


def test_time_is_predicted_by_what_the_suite_took_for_each_tracer_and_block() -> None:
    runs = [run(run__started="2026-11-20T10:00:00Z", run__ended="2026-11-20T10:10:00Z")]  # 2 tracers, 3 blocks
    job = Job(OFFER, "per-event", (OWN, LATER, FTRACE))
    assert duration_s(job, runs, "x86_64", blocks=5) == pytest.approx(100 * 3 * (5 + 1))


def test_runs_on_the_same_processor_predict_better() -> None:
    slow = run(run__started="2026-11-20T10:00:00Z", run__ended="2026-11-20T12:00:00Z", machine__architecture="aarch64")
    fast = run(run__started="2026-11-20T10:00:00Z", run__ended="2026-11-20T10:01:00Z")
    job = Job(OFFER, "per-event", (OWN,))
    predicted = [duration_s(job, [slow, fast], machine, blocks=3) for machine in ("x86_64", "aarch64")]
    assert predicted == [pytest.approx(10 * 4), pytest.approx(1200 * 4)]


def test_a_suite_that_was_never_counted_predicts_nothing() -> None:
    assert duration_s(Job(OFFER, "usdt", (OWN,)), [run()], "x86_64", blocks=5) is None


# The command.


class Debian:
    """An archive of one release, and a counting that fails on some kernels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.offers = {"amd64": OFFER}
        self.faults: dict[str, Exception] = {}
        self.asked: list[MeasureOptions] = []
        monkeypatch.setattr(measure_run, "RELEASES", ("bookworm",))
        monkeypatch.setattr(measure_run, "SUITES", ("per-event", "usdt"))
        monkeypatch.setattr(measure_run, "offer", self.offer)
        monkeypatch.setattr(measure_run, "run", self.run)

    def offer(self, release: str, architecture: GuestArchitecture, cache: Path) -> Offer:
        """What the release has."""
        del release, cache
        if architecture.debian not in self.offers:
            msg = "no such packages"
            raise HostNotReady(msg)
        return self.offers[architecture.debian]

    def run(self, data: object, results: object, options: MeasureOptions) -> None:
        """Count, or not."""
        del data, results
        self.asked.append(options)
        if fault := self.faults.get(options["suites"][0]):
            raise fault


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Debian:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Debian(monkeypatch)


def measure(data: Path, *words: str) -> Result:
    return CliRunner().invoke(command, ["--vm", "new", "--data", str(data), *words], standalone_mode=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with nothing counted."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_what_is_new_is_counted_one_suite_after_the_other(debian: Debian, data: Path) -> None:
    result = measure(data, "--arch", "amd64", "--blocks", "3")
    assert result.exception is None
    assert [(one["suites"], one["vm"], one["architecture"], one["blocks"]) for one in debian.asked] == [
        (["per-event"], "bookworm", "amd64", 3),
        (["usdt"], "bookworm", "amd64", 3),
    ]
    assert debian.asked[0]["tracers"] == ["bpftrace", "bpftrace=bpftrace/trixie", "ftrace"]


def test_a_dry_run_says_what_is_new_and_counts_nothing(debian: Debian, data: Path) -> None:
    result = measure(data, "--arch", "amd64", "--dry-run")
    assert debian.asked == []
    assert f"{KERNEL}, bookworm: new" in result.stdout
    assert "2 counts of a suite on a kernel" in result.stdout


def test_nothing_new_is_said_and_is_no_fault(debian: Debian, data: Path) -> None:
    packages = {"kernel": f"{KERNEL} (bookworm)", "a": f"{OWN.package} (bookworm)", "b": f"{LATER.package} (trixie)"}
    for suite in ("per-event", "usdt"):
        values = counted_values()
        values["machine"]["threads"] = CPUS
        values["tools"]["ftrace"] = "Linux 6.1"
        values["run"] |= {"suite": suite, "packages": packages, "command": ["probe-effect", "measure", suite]}
        write_counted_submission(data, values=values, folder=f"2026-11-20-{suite}")
    result = measure(data, "--arch", "amd64")
    assert result.exception is None
    assert debian.asked == []
    assert "nothing is new" in result.stdout


def test_what_cannot_be_counted_is_told_at_the_end_and_costs_nothing_else(debian: Debian, data: Path) -> None:
    debian.faults["per-event"] = HostNotReady("the emulated machine is lost: a kernel that does not boot")
    result = measure(data, "--arch", "amd64")
    assert [one["suites"] for one in debian.asked] == [["per-event"], ["usdt"]]
    assert isinstance(result.exception, HostNotReady)
    assert f"per-event on {KERNEL}: the emulated machine is lost" in str(result.exception)


def test_an_archive_that_cannot_be_asked_costs_no_other(debian: Debian, data: Path) -> None:
    result = measure(data)
    assert len(debian.asked) == 2
    assert "Debian bookworm for arm64: no such packages" in str(result.exception)


@pytest.mark.parametrize("words", [("--resume",), ("--tracer", "bpftrace"), ("--case", "02-kprobe")])
def test_what_new_decides_itself_is_not_to_be_named(debian: Debian, data: Path, words: tuple[str, ...]) -> None:
    result = measure(data, *words)
    assert isinstance(result.exception, UsageError) or "--vm new decides" in str(result.exception)
    assert debian.asked == []


def test_every_architecture_and_release_is_asked_for_its_kernel_and_every_bpftrace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    versions = {"bookworm": "0.17.0-1", "trixie": "0.23.2-1", "sid": "0.23.2-1"}
    asked = []

    class Archive:
        def __init__(self, name: str, cache: Path, architecture: GuestArchitecture) -> None:
            del cache
            self.name = name
            asked.append((name, architecture.debian))

        def version(self, package: str) -> str:
            return versions[self.name] if package == "bpftrace" else "6.12.107-1"

    monkeypatch.setattr(news, "DebianRelease", Archive)
    monkeypatch.setattr(news, "newest", lambda _: ("linux-image-6.12.107+deb13-arm64", ["linux-binary-6.12"]))
    found = news.offer("trixie", ARCHITECTURES["arm64"], tmp_path)
    assert found.kernel == "linux-image-6.12.107+deb13-arm64 6.12.107-1"
    assert [one.package for one in found.tracers if one.package] == ["bpftrace 0.17.0-1", "bpftrace 0.23.2-1"]
    assert set(asked) == {("trixie", "arm64"), ("bookworm", "arm64"), ("sid", "arm64")}
