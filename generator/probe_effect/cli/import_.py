"""`probe-effect import`: others' results as a published source, with what their format does not carry."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option, kept
from probe_effect.errors import BadData
from probe_effect.importers.files import read_given, refuse, told
from probe_effect.store.places import DataFolder, find_project
from probe_effect.store.samples import SLUG
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.importers.extracted import Extracted
    from probe_effect.importers.files import GivenFile
    from probe_effect.importers.source import Source

MAX_ID = 60
MAX_SHOWN_FILES = 5

CSV = "csv"

FORMATS = ("hyperfine", "go-bench", "kernel-bench", CSV)


@click.command(name="import")
@click.argument("input_format", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--id", "source_id", required=True, help="Id of the source: small letters, digits, hyphens.")
@click.option("--title", required=True, help="What it is, in a few words.")
@click.option("--baseline", metavar="NAME", help="The untraced runs, by their name in the file.")
@click.option(
    "--case", "cases", multiple=True, metavar="OURS=THEIRS", help="Our case that a name of theirs compares with."
)
@click.option("--tracer", metavar="ID", help="The tool that all the traced runs used.")
@click.option(
    "--operations", type=click.IntRange(1, 10**15), help="Operations of one run, where the file has whole runs."
)
@click.option(
    "--mapping", type=click.Path(path_type=Path), metavar="FILE", help="For csv: which column is what (TOML)."
)
@click.option("--author", help="Who measured. [default: not stated]")
@click.option("--date", help="When, such as 2024-08-05, 2024-08 or 2024. [default: not stated]")
@click.option("--where", help="Where it was published. [default: the names of the files]")
@click.option("--hardware", help="The machine. [default: what the file says]")
@click.option("--os", "system", help="System and kernel. [default: what the file says]")
@click.option("--workload", help="What the operations do. [default: what the file says]")
@click.option("--tools", help="Tracers and their versions. [default: what the file says]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the source's own. [default: data/published]",
)
@data_option
def import_(
    *,
    input_format: str,
    files: tuple[Path, ...],
    source_id: str,
    out: Path | None,
    data_path: Path | None,
    mapping: Path | None,
    cases: tuple[str, ...],
    baseline: str | None,
    tracer: str | None,
    operations: int | None,
    **facts: str | None,
) -> None:
    """Turn others' results into a published source, and say what they do not carry.

    \b
    FORMAT is one of
      hyperfine      the file of hyperfine --export-json
      go-bench       the text of go test -bench, also with -count
      kernel-bench   what the kernel's tools/testing/selftests/bpf/bench prints
      csv            any table with a header, with a mapping file that says which column is what

    None of them becomes a submission: none has runs in random blocks between baselines, counted events and the facts
    of the machine. What is missing is printed, and stands in the source's remarks.

    \b
    A mapping file:
      schema_version = 1
      unit = "ns"               # of the values: ns, us, ms, s, or hz: operations a second
      of = "operation"          # what a time is the time of: "operation" or "run"
      [columns]
      name = "probe"            # what was run; rows of one name are repeated runs
      value = "time"
      operations = "calls"      # may be left out: how many operations that run made
      [arms."kprobe, empty"]    # may be left out: what is known of a name
      case = "02-kprobe"
      tracer = "bpftrace"

    \b
    Examples:
      probe-effect import hyperfine dd.json --id example-2026-dd --title "dd under strace" \\
          --baseline dd --operations 20000 --tracer strace --case '01-control=dd under strace'
      probe-effect import go-bench bench.txt --id example-2026-getpid --title "getpid with probes" \\
          --baseline BenchmarkGetpidWithoutAnyProbes/getpid --case 02-kprobe=BenchmarkGetpidKprobeWithNoMap/getpid
      probe-effect import kernel-bench bench.log --id example-2026-trig --title "BPF bench on a laptop" \\
          --baseline kernel-count
      probe-effect import csv times.csv --mapping times.toml --id example-2026-times --title "Our own loop"
    """  # noqa: D301 (click reads the \b)
    known_data = out is None or data_path or find_project(Path.cwd())
    data = data_folder(data_path) if known_data or out is None else DataFolder(out, kept())
    folder = _folder(source_id, data.root / "published" if out is None else out)
    _check_slug(tracer, "--tracer")
    _check_mapping(input_format, mapping)
    pairs = _pairs(cases)

    from probe_effect.checks import run
    from probe_effect.importers.costs import Options
    from probe_effect.importers.source import as_source
    from probe_effect.store.source_writer import append_added, write_source

    given = [read_given(path) for path in files]
    _check_cases(pairs.values(), data)
    options = Options(facts=_facts(facts, given), baseline=baseline, cases=pairs, tracer=tracer, operations=operations)
    source = as_source(_extracted(input_format, given, mapping), options)
    write_source(folder, source.document, source.figures)
    problems = run.check([folder], data)
    if any(problem.severity == "error" for problem in problems):
        raise BadData(problems)
    if out is None:
        append_added(data, source_id, datetime.now(UTC).date().isoformat(), f"Imported from {input_format} output.")
    _say(source, folder)


def _check_mapping(input_format: str, mapping: Path | None) -> None:
    """Raise UsageError unless a mapping file comes with the format that needs one, and only there."""
    if (input_format == CSV) != (mapping is not None):
        found = "no mapping file" if input_format == CSV else f"a mapping file for {input_format}"
        refuse("--mapping", found, f"one with {CSV}, and only there", "probe-effect import --help shows one.")


def _check_slug(text: str | None, option: str) -> None:
    """Raise UsageError unless it is an id, or not given."""
    if text is not None and not re.fullmatch(SLUG, text):
        refuse(option, f"`{printable(text)}`", "an id, in small letters", "Such as bpftrace.")


def _extracted(input_format: str, given: list[GivenFile], mapping: Path | None) -> Extracted:
    """What the files hold. Raises: UsageError where they cannot be read."""
    from probe_effect.importers.go_bench import read_go_bench
    from probe_effect.importers.hyperfine import read_hyperfine
    from probe_effect.importers.kernel_bench import read_kernel_bench
    from probe_effect.importers.mapped_csv import read_mapped_csv, read_mapping

    if mapping is not None:
        return read_mapped_csv(given, read_mapping(mapping))
    readers = {"hyperfine": read_hyperfine, "go-bench": read_go_bench, "kernel-bench": read_kernel_bench}
    return readers[input_format](given)


def _folder(source_id: str, parent: Path) -> Path:
    """Where the source goes. Raises: UsageError when its id is none, or taken."""
    if len(source_id) > MAX_ID or not re.fullmatch(SLUG, source_id):
        found = f"`{printable(source_id)}`"
        refuse("--id", found, "small letters and digits, joined by hyphens", "Such as example-2026-getpid.")
    folder = parent / source_id
    if folder.exists() or folder.is_symlink():
        refuse(str(folder), "is there already", "an id of its own", "Choose another, or remove that folder.")
    return folder


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    """Their name to the case of ours that it is said to be. Raises: UsageError for what is no pair."""
    cases: dict[str, str] = {}
    for text in given:
        ours, equals, theirs = text.partition("=")
        if not equals or not theirs:
            refuse("--case", f"`{printable(text)}`", "OURS=THEIRS", "Such as 02-kprobe=trig-kprobe.")
        cases[theirs] = ours
    return cases


def _check_cases(cases: Iterable[str], data: DataFolder) -> None:
    """Raise UsageError for a case that no suite has."""
    from probe_effect.checks import run

    known = [case.id for suite in run.known_suites(data).values() for case in suite.cases]
    for ours in cases:
        if ours not in known:
            near = difflib.get_close_matches(ours, known, 3, 0.4) or known[:3]
            found = f"`{printable(ours)}` is no case"
            refuse("--case", found, f"one such as {', '.join(near)}", "`probe-effect suites` lists them.")


def _facts(options: dict[str, str | None], given: list[GivenFile]) -> dict[str, str]:
    """The options that become keys of the source, without those that were not given."""
    names = {"system": "os", "tools": "tool_versions"}
    files = ", ".join(told(Path(file.name).name) for file in given[:MAX_SHOWN_FILES])
    default = f"file {files}, not known to be published elsewhere"
    return {"where": default} | {names.get(key, key): text for key, text in options.items() if text is not None}


def _say(source: Source, folder: Path) -> None:
    count = len(source.figures)
    output.say(f"{count} figures. What the files do not say, which is in the remarks too:")
    for phrase in source.missing:
        output.say(f"  - {phrase}")
    output.say("Read the text of the source and mend its words before you offer it.")
    output.product(str(folder))
