"""Whether `advise` is right about programs that no suite has: measured by `try`, predicted by `advise`, and by hand.

Usage, as root: PYTHONPATH=tests python -m evidence.held_out [--only ID] [--pairs N] [--json FILE] [--machine ID]
[--data FOLDER].
`held_out.toml` has the programs and scripts; an ID is PROGRAM or PROGRAM.SCRIPT. FILE has a line for each script, and a
bench that was interrupted continues it. `--truth FILE` takes what was measured from such a file of another run, so that
only the answers are made again, such as those of another `--machine`.

What is compared is one figure for every program: the CPU time that the probes add to all processes, over the CPU time
that these need without them. `try` measures it as the ratio of CPU times of pairs of runs; the table has the median of
the pairs' averages with its 95 % interval. `advise` predicts it for a command with all its children (`whole` of its
JSON). A service is measured by the CPU time of one of its operations, in pairs of windows with and without bpftrace.

By hand is what somebody does without `advise`: count with perf stat, and multiply with the cost that the guide has for
such a probe (`probe-effect predict --case`). perf stat cannot count static probes of programs without further steps.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evidence.held_out_measured import Asked, by_hand, measured, predicted
from evidence.held_out_service import served
from evidence.held_out_tables import summary, table
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.model import ProbeEffectError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAMS = Path(__file__).with_suffix(".toml")
PAIRS = 12


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A script on a program: its id, the program's words, and what makes its input (a shell's, or nothing).

    A service does not end: it is found by its process.
    """

    id: str
    command: tuple[str, ...]
    script: str
    prepare: str = ""
    is_service: bool = False


def held_out(file: Path = PROGRAMS) -> list[HeldOut]:
    """All scripts of the file with their programs, in its order."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        HeldOut(
            id=f"{program['id']}.{name}",
            command=tuple(program["command"]),
            script=script,
            prepare=document["inputs"].get(program.get("input"), ""),
            is_service=program.get("service", False),
        )
        for program in document["programs"]
        for name, script in program["scripts"].items()
    ]


def row(one: HeldOut, asked: Asked, *, pairs: int, truth: dict[str, Any] | None = None) -> dict[str, Any]:
    """What was measured, predicted and found by hand of one script; keys as `held_out_measured.py` has them.

    Raises: CalledProcessError when a command fails.
    """
    with tempfile.TemporaryDirectory(prefix="held-out-") as folder:
        subprocess.run(["/bin/sh", "-ec", one.prepare], cwd=folder, check=True)
        at = asked.at(Path(folder))
        if one.is_service:
            with served(at, one) as service:
                found = truth or service.measured(pairs)
                return {"id": one.id, "measured": found, **predicted(at, one, service.process.pid), "by_hand": None}
        found = truth or measured(at, one, pairs)
        answer = predicted(at, one)
        return {"id": one.id, "measured": found, **answer, "by_hand": by_hand(at, one, answer["probes"], found)}


def rows(
    chosen: Sequence[HeldOut], asked: Asked, *, pairs: int, file: Path | None, truths: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """A row for each, from `file` where it has it, else made now and appended there. One that fails is only named."""
    made = read_rows(file)
    for one in chosen:
        if one.id not in made:
            print(one.id, file=sys.stderr, flush=True)
            try:
                made[one.id] = row(one, asked, pairs=pairs, truth=truths.get(one.id, {}).get("measured"))
            except subprocess.CalledProcessError as error:
                print(f"{one.id}: left out: {error}: {error.stderr}", file=sys.stderr, flush=True)
                continue
            if file is not None:
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(made[one.id], allow_nan=False) + "\n")
        yield made[one.id]


def read_rows(file: Path | None) -> dict[str, dict[str, Any]]:
    """Id to the row that a file has; none where there is no file yet."""
    if file is None or not file.exists():
        return {}
    return {found["id"]: found for found in map(json.loads, file.read_text(encoding="utf-8").splitlines())}


def choose(ids: Sequence[str], known: Sequence[HeldOut]) -> list[HeldOut]:
    """Those of the ids, of programs or scripts; all without any. Raises: UsageError for an unknown one."""
    programs = {one.id.partition(".")[0] for one in known}
    unknown(ids, [*sorted(programs), *(one.id for one in known)], "program or script")
    return [one for one in known if not ids or one.id in ids or one.id.partition(".")[0] in ids]


@click.command()
@click.option("--only", "ids", multiple=True, metavar="ID", help="A program, or PROGRAM.SCRIPT; repeat for several.")
@click.option("--pairs", type=click.IntRange(1), default=PAIRS, show_default=True, help="Runs with and without it.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Rows of an earlier run; new ones are appended.")
@click.option("--truth", type=click.Path(path_type=Path, exists=True), help="Rows whose measured figures are taken.")
@click.option("--machine", help="Of `advise` and `predict`: another machine than this one.")
@click.option("--data", type=click.Path(path_type=Path), help="Of the same: another data folder.")
def main(
    *, ids: tuple[str, ...], pairs: int, file: Path | None, truth: Path | None, machine: str | None, data: Path | None
) -> None:
    """Print as Markdown how far what `advise` says is from what `try` measures, and which targets are met."""
    mount_for_our_time()
    options = [
        word for name, value in (("--machine", machine), ("--data", data)) if value for word in (name, str(value))
    ]
    try:
        chosen = choose(ids, held_out())
    except ProbeEffectError as error:
        raise click.ClickException(str(error)) from error
    asked = Asked(options=tuple(options))
    found = list(rows(chosen, asked, pairs=pairs, file=file, truths=read_rows(truth)))
    print(f"{table(found)}\n\n{summary(found)}")


if __name__ == "__main__":
    main()
