"""The commands of the guide print what they are there for: here, and where they were recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import PROJECT, REAL_DATA, rules, write_data
from helpers.needs import lacking
from probe_effect.checks.run import check_all
from probe_effect.cli.build import transcripts as command
from probe_effect.cli.upkeep_run import faults, run, unmet
from probe_effect.host.this_machine import collect_named
from probe_effect.model import UsageError
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.shown import by_likeness, facts_of_machine, facts_of_submission
from probe_effect.site.assemble import transcript_values
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import NO_COMMANDS, ROOT_NEED, Transcript, read_transcripts, recorded_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from click.testing import Result

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.transcripts import Shown

SHOWN, PROBLEMS = read_transcripts(DataFolder(REAL_DATA))
REFUSED = re.compile(r"another kind of machine", re.IGNORECASE)
TRIES = 3
"""On a busy machine what runs beside a command may not be at work yet when the command looks."""

QUICK = {
    "cite-an-enabled-usdt-probe",
    "dormant-probe-in-machine-code",
    "first-instruction-of-a-function",
    "how-functions-of-a-library-begin",
    "may-strace-look",
    "static-probes-of-a-program",
}
"""Commands that need no root and take about a second; the others run in the deep tier."""


def marks(one: Transcript) -> list[pytest.MarkDecorator]:
    """Those of the test that runs a command."""
    as_root = [pytest.mark.tracer, pytest.mark.xdist_group("tracer")] if ROOT_NEED in one.needs else []
    return as_root if one.id in QUICK else [pytest.mark.deep, *as_root]


EACH = [pytest.param(one, id=one.transcript.id) for one in SHOWN]
RUN = [pytest.param(one, id=one.transcript.id, marks=marks(one.transcript)) for one in SHOWN]
CHAPTERS = {path.stem: path for path in (PROJECT / "content").rglob("*.md")}

GREETING = """
[[transcript]]
id = "greeting"
asks = "Who is there?"
run = "echo '<b>hello</b>'"
shows = ["hello"]
"""


def transcript(run: str, shows: str = "*", beside: str | None = None, needs: tuple[str, ...] = ()) -> Transcript:
    return Transcript(id="one", asks="What?", run=run, shows=(shows,), beside=beside, needs=needs)


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    """A data folder with one transcript that nobody has recorded."""
    root = write_data(tmp_path)
    (root / "transcripts" / "recorded").mkdir(parents=True)
    (root / "transcripts" / "why.toml").write_text(GREETING, encoding="utf-8")
    return DataFolder(root)


def asked(data: DataFolder, *words: str) -> Result:
    return CliRunner().invoke(command, ["--data", str(data.root), *words], standalone_mode=False)


def changed(data: DataFolder, old: str, new: str) -> None:
    path = data.root / "transcripts" / "why.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def faults_here(run_: str, shows: str = ".") -> list[str]:
    one = transcript(run_, shows)
    return faults(one, run(one))


def output(one: Transcript) -> Sequence[str]:
    return run(one).output


# Those of the guide


def test_all_of_the_guide_can_be_read() -> None:
    assert PROBLEMS == []
    assert {one.transcript.id for one in SHOWN} >= QUICK


@pytest.mark.parametrize("one", RUN)
def test_a_command_of_the_guide_still_prints_what_it_is_there_for(
    one: Shown,
    cache_with_kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    # Two measurements shut each other out by a lock in the cache, and other tests measure too.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_with_kept))
    if missing := unmet(one.transcript):
        pytest.skip(lacking(need for need in missing if need not in NO_COMMANDS) or f"needs {', '.join(missing)}")
    tries = (run(one.transcript) for _ in range(TRIES))
    for printed in tries:
        if not (found := faults(one.transcript, printed)):
            return
    text = "\n".join(printed.output)
    if REFUSED.search(text):
        assert alike(request.getfixturevalue("catalogue")) == []
        pytest.skip("no measured machine may be compared with this one")
    assert found == [], text


def alike(catalogue: Catalogue) -> list[str]:
    """The machines with times that may be compared with the one that runs the tests."""
    ordered = by_likeness(facts_of_machine(*collect_named()), map(facts_of_submission, catalogue.timed))
    return [one.machine for one in ordered if one.comparable]


@pytest.mark.parametrize("one", EACH)
def test_a_command_of_the_guide_was_recorded_as_it_stands_and_is_shown_by_its_chapter(one: Shown) -> None:
    assert one.recorded is not None
    assert one.recorded.is_of(one.transcript)
    assert one.transcript.missing_from(one.recorded.output) == []
    text = CHAPTERS[one.chapter].read_text(encoding="utf-8")
    assert re.search(rf'<\s*transcript\s+"{one.transcript.id}"', text)


@pytest.mark.parametrize(
    ("form", "text", "is_shown"),
    [
        ("SAMPLE events: #", "   SAMPLE events:     195081", True),
        ("SAMPLE events: #", "   SAMPLE events:     none", False),
        ("^@[#]: #$", "Attaching\n@[12]: 345\n", True),
        ("^#$", "a 5", False),
        ("copied*copied", "1 copied\n2 copied", True),
        ("copied*copied", "1 copied", False),
        ("emulated|stepped", "it is stepped", True),
        ("(a+)+$", "a" * 100 + "!", False),
        ("*".join(["a"] * 900) + "!", "a" * 3000, False),
        ("#" * 1900, "1" * 3000, False),
    ],
)
def test_what_a_command_must_show_is_found_in_one_pass(form: str, text: str, is_shown: bool) -> None:
    shown = transcript("true").model_copy(update={"shows": (form,)})
    assert shown.missing_from(tuple(text.split("\n"))) == ([] if is_shown else [form])


# Running one


def test_a_command_runs_in_an_empty_folder_in_one_language_without_colours() -> None:
    one = transcript('ls; echo "$LC_ALL $NO_COLOR $COLUMNS"; cat')
    assert output(one) == ("C.UTF-8 1 100",)


def test_both_streams_and_the_exit_status_are_kept() -> None:
    printed = run(transcript("echo out; echo err >&2; exit 3"))
    assert (printed.output, printed.exit_status) == (("out", "err"), 3)


def test_what_runs_beside_it_is_known_by_its_process_id_and_is_ended() -> None:
    pid = int(
        output(transcript('tr "\\0" " " < /proc/$PID/cmdline | grep -q "sleep 999" && echo $PID', beside="sleep 999"))[
            0
        ]
    )
    one = transcript(f"kill -0 {pid} 2>/dev/null || echo gone")
    assert output(one) == ("gone",)


def test_what_it_leaves_behind_in_another_group_is_ended() -> None:
    (pid,) = output(transcript("setsid sleep 997 >&2 & echo $!"))
    assert output(transcript(f"grep -q sleep /proc/{pid}/cmdline 2>/dev/null || echo gone")) == ("gone",)


def test_our_own_program_is_the_one_that_is_running() -> None:
    assert output(transcript("probe-effect --version"))[0].startswith("probe-effect, version ")


def test_what_a_machine_lacks_is_named() -> None:
    assert unmet(transcript("true", needs=("bash", "no-such-command"))) == ["no-such-command"]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("echo hello", "does not show bye"),
        ("seq 31; echo bye", "prints 32 lines; expected at most 30"),
        ("printf 'bye%0110d\\n' 0", "prints a line of 113 columns; expected at most 104"),
        ("printf 'bye\\033[1m\\n'", "prints control characters"),
        (
            "echo bye; ls --no-such-option >/dev/null 2>&1",
            "ended with exit status 2, as a command does that was called",
        ),
        ("echo bye; pwd", "prints `transcript-`, a path of this machine"),
    ],
)
def test_an_output_that_cannot_be_shown_is_told_with_the_reason(run: str, says: str) -> None:
    (found,) = faults_here(run, "bye")
    assert found.startswith(says)


def test_a_command_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.cli.upkeep_run.LIMIT_S", 0.2)
    assert faults_here("echo begun; sleep 999")[-1] == "did not end within 0 s"


# Recording


def test_what_is_recorded_is_read_again_and_is_foreign_text(data: DataFolder) -> None:
    assert asked(data, "--write").return_value == 0
    assert rules(check_all(data)) == set()
    (found,) = transcript_values(read_catalogue(data))
    assert (found["chapter"], found["id"], found["output"]) == ("why", "greeting", "<b>hello</b>")


def test_without_write_it_is_only_printed(data: DataFolder) -> None:
    done = asked(data)
    assert (done.return_value, done.stdout) == (0, "$ echo '<b>hello</b>'\n<b>hello</b>\n")
    assert not recorded_file(data, "greeting").exists()


def test_a_record_stays_when_the_command_no_longer_prints_what_it_is_there_for(data: DataFolder) -> None:
    asked(data, "--write")
    before = recorded_file(data, "greeting").read_bytes()
    changed(data, '"hello"', '"bye"')
    done = asked(data, "--write")
    assert done.return_value == 1
    assert "greeting: does not show bye" in done.stderr
    assert recorded_file(data, "greeting").read_bytes() == before


def test_a_command_that_cannot_run_here_is_told_with_what_is_lacking(data: DataFolder) -> None:
    changed(data, "shows", 'needs = ["no-such-command"]\nshows')
    done = asked(data, "--write")
    assert done.return_value == 1
    assert "greeting: cannot be run here, which lacks no-such-command" in done.stderr


def test_an_unknown_id_is_told_with_those_that_there_are(data: DataFolder) -> None:
    error = asked(data, "farewell").exception
    assert isinstance(error, UsageError)
    assert str(error) == "farewell: no transcript. Expected some of greeting."


# Rules


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("hello</b>", "hello again</b>", "transcript-recorded"),
        ('"greeting"', '"farewell"', "transcript-recorded"),
        ('["hello"]', '["bye"]', "transcript-shows"),
        ("Who is there?", "", "transcripts/string-too-short"),
    ],
)
def test_what_is_not_as_it_was_recorded_is_found(data: DataFolder, old: str, new: str, rule: str) -> None:
    asked(data, "--write")
    changed(data, old, new)
    assert rule in rules(check_all(data))


def test_one_id_stands_for_one_transcript(data: DataFolder) -> None:
    asked(data, "--write")
    (data.root / "transcripts" / "disabled.toml").write_text(GREETING, encoding="utf-8")
    assert rules(check_all(data)) == {"transcript-ids"}
