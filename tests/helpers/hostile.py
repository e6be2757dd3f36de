"""Hostile data folders and revisions, each a small change of a sound data folder, and what a command makes of them.

`PYTHONPATH=tests python -m helpers.hostile` runs all of them, and prints the times and the memory of the worst.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.builders import (
    EVENTS,
    FOLDER,
    MACHINE,
    block_rows,
    changed,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_data,
    write_submission,
)
from probe_effect.cli import main
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.releases import make_release
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import SAMPLE_COLUMNS
from probe_effect.store.tables import csv_line
from probe_effect.store.transcripts import ToolPackage, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_BYTES, MOST_SECONDS = 1 << 30, 20
"""What a command may take beyond what it takes without the change."""

LIMIT_BYTES, LIMIT_SECONDS = 4 << 30, 60
"""At which a command is ended, so that no change takes the machine down."""

SUBMISSION = f"results/{MACHINE}/{FOLDER}"
COUNTED = "results/qemu-tcg-6-1-0-50/2026-11-21-per-event"
SOURCE = "published/a-talk"
SUITE = "suites/per-event"

TEXTS = {
    "changes.toml": """\
schema_version = 1

[[changes]]
date = "2026-11-20"
kind = "added"
what = ["a-talk"]
why = "The first source."
""",
    "claims.toml": """\
schema_version = 1

[[claim]]
id = "tracing-is-free"
subject = "Kernel probes"
words = "Tracing is free."
link = "https://example.org/"
date = "2026"
who = "somebody"
conditions = "none"
says = "That it costs nothing."
missing = "A number."
""",
    "references.toml": """\
schema_version = 1

[[reference]]
id = "a-fact"
says = "It is so."
project = "Linux"
place = "kernel/trace/trace.c"
url = "https://example.org/v6.1/trace.c"
""",
    "explanations.toml": """\
schema_version = 1

[[explanation]]
id = "a-cause"
cases = ["02-kprobe"]
of = "kernel"
before = "6.1"
since = "6.12"
change = "more"
says = "It does more."
references = ["a-fact"]
certainty = "read"
""",
    "transcripts/chapter.toml": """\
[[transcript]]
id = "count-it"
asks = "How many?"
run = "echo 5"
shows = ["#"]
""",
    "transcripts/recorded/count-it.json": json.dumps(
        {
            "schema_version": 1,
            "id": "count-it",
            "run": "echo 5",
            "beside": None,
            "output": ["5"],
            "exit_status": 0,
            "machine": MACHINE,
            "kernel": "6.12.1-amd64",
            "versions": {},
            "date": "2026-11-20",
        },
        indent=2,
    ),
    "mechanisms/6.1.0-50-amd64.json": json.dumps(
        {
            "schema_version": 1,
            "kernel_release": "6.1.0-50-amd64",
            "architecture": "x86_64",
            "kernel": "linux-image",
            "emulator": "QEMU",
            "probe_effect": "0.1.0",
            "date": "2026-11-20",
            "trials": {"perf-tracepoint": {"outcome": "works", "error": None, "says": None}},
        },
        indent=2,
    ),
}

TOOLS = {
    "schema_version": 1,
    "title": "Tools",
    "package": "tools",
    "version": "1",
    "where": "here",
    "tracer": "bpftrace",
    "tools": [{"name": "opensnoop", "answers": "Who opens?", "event": "an open", "remark": "It is not read."}],
}

HISTOGRAM = "block,position,low_ns,high_ns,operations\n"
PATHS = "case,tracer,level,depth,function,instructions,repetitions,traps,indirect,returns,atomics,flags"
PATHS += ",alike,recorded,counted,beside\n"
PATH = "02-kprobe,bpftrace,,{depth},f,5,0,0,0,0,0,0,{first}\n"


def sound_data(folder: Path) -> Path:
    """A data folder with everything that one may have, in which nothing is wrong."""
    data = write_data(folder)
    write_counted_submission(data)
    for name, text in TEXTS.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text, encoding="utf-8")
    (data / "tools").mkdir()
    (data / "tools" / "tools.toml").write_text(
        written(ToolPackage.model_validate_json(json.dumps(TOOLS))), encoding="utf-8"
    )
    found = DataFolder(data)
    make_release(found, read_catalogue(found), "2026.11", "2026-11-22")
    return data


@dataclass(frozen=True, slots=True)
class Attack:
    """One change of a sound data folder.

    Attributes:
        file: what the refusal names; empty where the change is harmless, and has to be taken.
        has_line: whether the refusal names a line.
    """

    name: str
    make: Callable[[Path], object]
    file: str
    has_line: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command made of it."""

    status: int
    said: str
    errors: str
    cpu_seconds: float
    memory_bytes: int

    def problems(self) -> list[dict[str, Any]]:
        """Those that it found, from its JSON; one for each line where it refused to go on."""
        try:
            found = json.loads(self.said)["problems"]
        except (ValueError, KeyError):
            return [{"severity": "error", "file": self.errors, "line": None, "message": self.errors, "hint": ""}]
        return list(found["rows"] if isinstance(found, dict) else found)


def run(words: Sequence[str], folder: Path) -> Outcome:
    """What `probe-effect WORDS` does in `folder`, as a fork of this process within its limits."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            _become(words, folder, said.fileno(), errors.fileno())
        _, status, used = os.wait4(child, 0)
        for stream in (said, errors):
            stream.seek(0)
        texts = [stream.read().decode(errors="replace") for stream in (said, errors)]
    exit_status, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    return Outcome(exit_status, texts[0], texts[1], seconds, used.ru_maxrss * 1024)


def _become(words: Sequence[str], folder: Path, said: int, errors: int) -> None:
    """Run the command in place of this process, and never come back."""
    status = 70
    try:
        os.chdir(folder)
        os.dup2(said, 1)
        os.dup2(errors, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (as long as the process)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT_SECONDS)
        sys.argv = ["probe-effect", *words]
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 (whatever it is, it is what the test looks for)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _write(name: str, content: str | bytes = "", mode: int = 0o644) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)

    return make


def _at(name: str, make_it: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda data: make_it(data / name)


def _replace(name: str, old: str, new: str | bytes) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        text = (data / name).read_bytes()
        assert old.encode() in text, (name, old)
        (data / name).write_bytes(text.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1))

    return make


def _append(name: str, *texts: str) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        with (data / name).open("a", encoding="utf-8") as file:
            file.writelines(texts)

    return make


def _key(key: str, value: object, submission: str = SUBMISSION) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        path = data / submission / "machine.json"
        values = changed(json.loads(path.read_text(encoding="utf-8")), key, value)
        path.write_text(json.dumps(values, indent=2), encoding="utf-8")

    return make


def _in_place_of(name: str, make_other: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        (data / name).unlink()
        make_other(data / name)

    return make


def _cell(column: str, value: str, line: int = 3) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        path = data / SUBMISSION / "samples.csv"
        lines = path.read_text(encoding="utf-8").split("\n")
        cells = lines[line - 1].split(",")
        cells[[one.name for one in SAMPLE_COLUMNS].index(column)] = value
        lines[line - 1] = ",".join(cells)
        path.write_text("\n".join(lines), encoding="utf-8")

    return make


def _rows(count: int, **cells: Callable[[int], object]) -> Callable[[Path], None]:
    """A `samples.csv` of so many baselines, in each of which some cells say something of its number."""

    def make(data: Path) -> None:
        usual = {"case": "baseline", "tracer": "none", "arm": "baseline", "events": 1000, "wall_ns": 100000}
        with (data / SUBMISSION / "samples.csv").open("w", encoding="utf-8") as file:
            file.write(csv_line(column.name for column in SAMPLE_COLUMNS))
            for number in range(count):
                own = usual | {"status": "ok", "block": 0, "position": number}
                own |= {name: cell(number) for name, cell in cells.items()}
                file.write(csv_line(own.get(column.name) for column in SAMPLE_COLUMNS))

    return make


def _machines(count: int, factor: float = 0.0) -> Callable[[Path], None]:
    """Copies of one submission under other ids; with another `factor`, each with times of its own."""

    def make(data: Path) -> None:
        for number in range(count):
            values = changed(machine_values(), "machine.id", f"copy-{number}")
            rows = many_blocks(cost_ns=50 + factor * number)
            write_submission(data, rows, values)

    return make


def _deep(name: str) -> Callable[[Path], None]:
    """Folders in one another, deeper than a path can say."""

    def make(data: Path) -> None:
        (data / name).mkdir(parents=True, exist_ok=True)
        script = "import os\nfor _ in range(3000):\n os.mkdir('a')\n os.chdir('a')\n"
        subprocess.run([sys.executable, "-c", script], cwd=data / name, check=True)

    return make


def _named(folder: str, name: bytes, content: bytes | None = b"x") -> Callable[[Path], None]:
    """A file with a name in bytes; a folder without content."""

    def make(data: Path) -> None:
        path = os.path.join(os.fsencode(data / folder), name)  # noqa: PTH118 (a name that is no text)
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        if content is None:
            os.makedirs(path)  # noqa: PTH103
        else:
            Path(os.fsdecode(path)).write_bytes(content)

    return make


def _suite(identity: str) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        text = (
            (data / SUITE / "suite.toml").read_text(encoding="utf-8").replace('id = "per-event"', f'id = "{identity}"')
        )
        _write(f"suites/{identity}/suite.toml", text)(data)

    return make


def _machine(identity: str) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        noisy = ((block, 70 + block * block % 5, 100 + block * block % 7) for block in range(8))
        rows = [row for block, cost, time in noisy for row in block_rows(block, cost, (time, 103), seen=EVENTS, lost=0)]
        write_submission(data, rows, changed(machine_values(), "machine.id", identity))

    return make


def _archive(files: int) -> Callable[[Path], None]:
    """A release whose manifest names one file of zeros so many times."""

    def make(data: Path) -> None:
        folder = data / "releases" / "2026.11"
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        size = 5 << 20
        one = {"path": "results/zeros", "bytes": size, "sha256": "0" * 64}
        manifest["files"] = [one] * files
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        with zipfile.ZipFile(folder / "probe-effect-2026.11.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("probe-effect-2026.11/data/results/zeros", bytes(size))

    return make


def _both(*makes: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(data: Path) -> None:
        for one in makes:
            one(data)

    return make


def _facts_of_another(data: Path) -> None:
    """A second run of a machine that says that it has other CPUs."""
    values = changed(changed(machine_values(), "machine.threads", 4), "machine.cores", 2)
    rows = [row for block in range(8) for row in block_rows(block, 70, (101, 103))]
    write_submission(data, rows, values, "2026-11-23-per-event")
    folder = data / "results" / MACHINE / "2026-11-23-per-event"
    path = folder / "machine.json"
    values = changed(json.loads(path.read_text(encoding="utf-8")), "run.started", "2026-11-23T10:00:00Z")
    path.write_text(json.dumps(changed(values, "run.ended", "2026-11-23T10:30:00Z"), indent=2), encoding="utf-8")


def _entries(kind: str, count: int, body: str) -> str:
    return "schema_version = 1\n" + "".join(f'\n[[{kind}]]\nid = "e-{one:06}"\n{body}' for one in range(count))


def attacks() -> Iterator[Attack]:
    """All changes, by what they are changes of."""
    machine, rows, figures = f"{SUBMISSION}/machine.json", f"{SUBMISSION}/samples.csv", f"{SOURCE}/figures.csv"
    yield Attack("nothing", lambda _: None, "")
    yield from _of_names()
    yield from _of_files()
    for key, value in (
        ("machine.id", "../../etc"),
        ("machine.id", "index"),
        ("machine.id", "con"),
        ("machine.id", "anatomy"),
        ("machine.id", "a" * 101),
        ("machine.id", 5),
        ("machine.architecture", "../../../tmp/x"),
        ("machine.architecture", "x" * 31),
        ("machine.cpu_model", "\x1b]0;title\x07"),
        ("machine.cpu_model", "\u202egnp.exe"),
        ("machine.cpu_model", "x" * 2001),
        ("machine.threads", 2**60),
        ("machine.threads", -1),
        ("machine.threads", 1e300),
        ("machine.memory_bytes", 10**400),
        ("system.kernel_config", {f"k{one}": 1 for one in range(5_000)}),
        ("system.boot_messages", ["x" * 2001] * 100),
        ("system.clock_read_ns", 1e308),
        ("run.blocks", 10_000_000),
        ("run.blocks", 1_000_000_000),
        ("run.blocks", 2**53),
        ("run.seed", -1),
        ("run.started", "2026-02-30T10:00:00Z"),
        ("run.started", "9999-12-31T23:59:59Z"),
        ("run.ended", "0001-01-01T00:00:00Z"),
        ("run.command", [1] * 20_000),
        ("run.suite", "index"),
        ("run.suite", "no-such-suite"),
        ("run.metric", "instructions"),
        ("run.program_runs", {"02-kprobe bpftrace": 0.5}),
        ("submitter.url", "javascript:alert(1)"),
        ("submitter.name", "=cmd()"),
        ("provenance.kind", "hosted"),
        ("schema_version", 2),
    ):
        where = rows if key == "run.blocks" else machine
        has_line = where == machine and value != "no-such-suite"
        yield Attack(f"{key} is {str(value)[:40]!r}", _key(key, value), where, has_line=has_line)
    for name, text in (
        ("cut", '{"schema_version": 1'),
        ("of a list", "[]"),
        ("of nothing", ""),
        ("of zeros", "\0" * 4096),
        ("of nested lists", "[" * 200_000),
        ("of nested objects", '{"a":' * 50_000),
        ("of a key many times", '{"a": 1, ' * 20_000),
        ("of NaN", '{"schema_version": NaN}'),
        ("of one long string", '"' + "a" * 260_000),
        ("of one long number", "9" * 260_000),
        ("larger than any", " " * (300 << 10)),
    ):
        yield Attack(f"machine.json {name}", _write(machine, text), machine)
    yield Attack("machine.json not UTF-8", _write(machine, b"{\n\xff}"), machine, has_line=True)
    yield from _of_tables(rows, figures)
    yield from _of_documents()
    other = f"results/other/{FOLDER}"
    blocks = _both(_machine("other"), _machine("third"), _machine("fourth"), _key("run.blocks", 10**9, other))
    yield Attack("a billion blocks beside another machine", blocks, f"{other}/samples.csv")
    yield Attack("200 copies", _machines(200), "samples.csv")
    yield Attack("600 copies", _machines(600), "samples.csv")
    yield Attack("300 copies with other times", _machines(300, 0.01), "samples.csv")
    yield Attack("another machine of the same id", _facts_of_another, "machine.json", has_line=True)


def _of_names() -> Iterator[Attack]:
    """Ids that are names of others, and names that are none."""
    for name in ("index", "con", "nul", "com1", "anatomy", "changes", "series", "mechanisms", "x86-64", "cite"):
        where = f"results/{name}/{FOLDER}/machine.json"
        yield Attack(f"the machine {name}", _machine(name), where, has_line=True)
    for name in ("index", "aux", "content"):
        yield Attack(f"the suite {name}", _suite(name), f"suites/{name}/suite.toml", has_line=True)
    case = _replace(f"{SUITE}/suite.toml", 'id = "02-kprobe"', 'id = "index"')
    yield Attack("the case index", case, f"{SUITE}/suite.toml", has_line=True)
    source = _both(lambda data: (data / SOURCE).rename(data / "published" / "index"))
    yield Attack("the source index", source, "published/index", has_line=False)
    yield Attack(
        "the figure content", _replace(f"{SOURCE}/figures.csv", "calls,", "content,"), "figures.csv", has_line=True
    )
    claim = _replace("claims.toml", "tracing-is-free", "kernel-probes")
    yield Attack("the claim of a heading", claim, "claims.toml", has_line=True)
    for part in ("", "results", f"results/{MACHINE}", SUBMISSION, "published", SOURCE, "suites", SUITE, "transcripts"):
        yield Attack(f"a name that is no UTF-8 in {part or 'data'}", _named(part, b"a\xff.txt"), "\\udcff")
        yield Attack(f"a folder that is no UTF-8 in {part or 'data'}", _named(part, b"a\xff", None), "\\udcff")
    whole = _both(_named("results", b"\xff/2026-11-20-per-event/machine.json"))
    yield Attack("a machine that is no UTF-8", whole, "\\udcff")
    yield Attack("a suite that is no UTF-8", _named("suites", b"\xff/suite.toml"), "\\udcff")
    yield Attack("a name of two lines", _named("results", b"a\nb/2026-11-20-x/machine.json"), "a\\nb")
    yield Attack("a name of 255 bytes", _named("transcripts", b"a" * 250 + b".toml"), "transcripts/aaa")
    for part in ("", "results", f"results/{MACHINE}", SUBMISSION, SUITE, "published"):
        yield Attack(f"3000 folders deep in {part or 'data'}", _deep(f"{part}/a".lstrip("/")), "/a")


def _of_files() -> Iterator[Attack]:
    """Files that the format does not know, and what is no file."""
    for name in (
        "install.sh",
        ".gitattributes",
        ".gitignore",
        ".gitmodules",
        "pagefind.py",
        "results/install.sh",
        "results/.gitattributes",
        f"results/{MACHINE}/evil.html",
        f"results/{MACHINE}/2026-11-30-x/evil.html",
        f"{SUBMISSION}/evil.html",
        f"{SUBMISSION}/.gitattributes",
        "published/evil.svg",
        f"{SOURCE}/notes.txt",
        "suites/evil.py",
        f"{SUITE}/evil.py",
        f"{SUITE}/workload/evil.h",
        f"{SUITE}/other/evil.c",
        "transcripts/evil.sh",
        "transcripts/recorded/evil.html",
        "tools/evil.txt",
        "mechanisms/evil.html",
        "schema/evil.json",
        "releases/evil.zip",
        "releases/2026.11/evil.html",
    ):
        yield Attack(f"the file {name}", _write(name, "x"), name)
    yield Attack("a folder elsewhere", _write("elsewhere/machine.json", "{}"), "data/elsewhere")
    yield Attack("an editor's file", _write(".claims.toml.swp", "x"), "")
    for name in ("claims.toml", f"{SUITE}/suite.toml", "transcripts/chapter.toml", f"{SUBMISSION}/samples.csv"):
        yield Attack(f"{name} is executable", _at(name, lambda path: path.chmod(0o755)), name)
        yield Attack(f"{name} is a link", _in_place_of(name, lambda path: path.symlink_to("/etc/passwd")), name)
        yield Attack(f"{name} is a pipe", _in_place_of(name, os.mkfifo), name)
        yield Attack(f"{name} is a folder", _in_place_of(name, Path.mkdir), name)
    for name in ("claims.toml", f"{SUBMISSION}/samples.csv"):
        yield Attack(f"{name} is endless", _in_place_of(name, lambda path: path.symlink_to("/dev/zero")), name)
        yield Attack(f"{name} leads to itself", _in_place_of(name, lambda path: path.symlink_to(path.name)), name)
    for name in ("results/linked", "published/linked", "suites/linked", "linked"):
        yield Attack(f"{name} is a link to a folder", _at(name, lambda path: path.symlink_to("/etc")), name)
        yield Attack(f"{name} is a link to what is above", _at(name, lambda path: path.symlink_to("..")), name)
    hard = _both(lambda data: os.link(data / SUBMISSION / "samples.csv", data / "results" / "hard.csv"))
    yield Attack("a hard link", hard, "results/hard.csv")
    yield Attack(
        "5000 files in a submission", _both(*(_write(f"{SUBMISSION}/{one}", "") for one in range(5000))), SUBMISSION
    )
    yield Attack("5000 files beside", _both(*(_write(f"results/{one}", "") for one in range(5000))), "results/")
    yield Attack(
        "1000 empty machines",
        _both(*(_at(f"results/m-{one}/x", lambda path: path.mkdir(parents=True)) for one in range(1000))),
        "",
    )


def _of_tables(rows: str, figures: str) -> Iterator[Attack]:
    for column, value in (
        ("block", "-1"),
        ("block", "999999999999999999"),
        ("block", "9" * 19),
        ("position", "1e9"),
        ("case", "99-unknown"),
        ("case", "index"),
        ("case", "../../x"),
        ("tracer", "evil"),
        ("arm", "other"),
        ("level", "1"),
        ("events", "0"),
        ("seen", "999999999999999999"),
        ("wall_ns", "0"),
        ("wall_ns", "999999999999999999"),
        ("wall_ns", "NaN"),
        ("wall_ns", "0x10"),
        ("status", "fine"),
        ("note", "=cmd()"),
        ("note", "a\u202eb"),
        ("note", "x" * 1001),
        ("instructions", "5"),
        ("operations", "999999999999999999"),
        ("tracer_rss_bytes", "999999999999999999"),
    ):
        # What a machine might have is taken; here the row was released, and is told as changed.
        is_taken = column in {"operations", "tracer_rss_bytes", "instructions"} or value == "999999999999999999"
        yield Attack(f"a {column} of {value[:30]!r}", _cell(column, value), "manifest.json" if is_taken else rows)
    yield Attack("50 000 blocks", _rows(50_000, block=lambda one: one, position=lambda _: 0), rows)
    yield Attack("50 000 baselines", _rows(50_000), rows)
    yield Attack("50 000 cases", _rows(50_000, case=lambda one: f"c-{one}"), rows)
    yield Attack("50 000 levels", _rows(50_000, level=lambda one: one), rows)
    yield Attack(
        "40 000 rows of 200 blocks", _rows(40_000, block=lambda one: one // 200, position=lambda one: one % 200), rows
    )
    header = csv_line(column.name for column in SAMPLE_COLUMNS)
    for name, text in (
        ("of nothing", ""),
        ("of a header alone", header),
        ("of a header twice", header + header),
        ("of 500 000 columns", ",".join(f"a{one}" for one in range(500_000)) + "\n"),
        ("of commas", header + "," * 5_000_000 + "\n"),
        ("of line ends", header + "\n" * 5_000_000),
        ("of quotes", header + '"' * 5_000_000),
        ("of one cell", header + '"' + "a" * 5_000_000 + '"\n'),
        ("of carriage returns", header.replace("\n", "\r\n")),
        ("larger than any", header + "0" * (6 << 20)),
    ):
        yield Attack(f"samples.csv {name}", _write(rows, text), rows)
    yield Attack("samples.csv not UTF-8", _write(rows, header.encode() + b"\xff\n"), rows, has_line=True)
    yield Attack("samples.csv in UTF-16", _write(rows, header.encode("utf-16")), rows)
    yield Attack("a torn samples.csv", _append(rows, "0,5,base"), rows, has_line=True)
    histogram = f"{SUBMISSION}/histogram.csv"
    for name, text in (
        ("of another run", HISTOGRAM + "99,99,0,0,1\n"),
        ("of one wide bucket", HISTOGRAM + "0,0,0,999999999999999999,1000\n"),
        ("of 200 000 buckets", HISTOGRAM + "0,0,1,1,1\n" * 200_000),
        ("of all operations", HISTOGRAM + "0,0,100,100,999999999999999999\n"),
    ):
        yield Attack(f"histogram.csv {name}", _write(histogram, text), "histogram.csv")
    first, more = "5,5,5,f 1", ",,,"
    deep = "".join(PATH.format(depth=one, first=more if one else first) for one in range(60_000))
    for name, text in (
        ("60 000 calls deep", PATHS + deep),
        ("of a call from nowhere", PATHS + PATH.format(depth=0, first=first) + PATH.format(depth=5, first=more)),
        ("of two programs", PATHS + PATH.format(depth=0, first=first) + PATH.format(depth=0, first=first)),
        ("that says nothing", PATHS + PATH.format(depth=0, first=more)),
        ("of the deepest", PATHS + PATH.format(depth="999999999999999999", first=first)),
    ):
        yield Attack(f"paths.csv {name}", _write(f"{COUNTED}/paths.csv", text), "paths.csv", has_line=True)
    calibration = (
        "case,tracer,level,probe,mechanism,cost_ns,cost_low_ns,cost_high_ns,call_ns,call_low_ns,call_high_ns,note\n"
    )
    yield Attack(
        "calibration.csv of 60 000 probes",
        _write(f"{SUBMISSION}/calibration.csv", calibration + "02-kprobe,bpftrace,,p,,1,1,1,,,,\n" * 60_000),
        "calibration.csv",
    )
    for name, old, new in (
        ("nested formula", "(traced - plain) / calls", "(" * 300 + "1" + ")" * 300),
        ("formula of code", "(traced - plain) / calls", "__import__('os').system('id')"),
        ("formula of powers", "(traced - plain) / calls", "10**10**10"),
        ("formula of products", "(traced - plain) / calls", "*".join(["calls"] * 240)),
        ("formula through zero", "(traced - plain) / calls", "1 / (calls - calls)"),
        ("unit", "1000000,count", "1000000,parsec"),
        ("value of 40 digits", "1000000,count", "9" * 40 + ",count"),
    ):
        yield Attack(f"a figure with another {name}", _replace(figures, old, new), figures, has_line=True)
    many = "".join(f"f{one},Runs,w,1,1,count,,,,,,,,,,,,,,S,\n" for one in range(60_000))
    yield Attack("60 000 figures", _append(figures, many), figures)


def _of_documents() -> Iterator[Attack]:
    """Everything in TOML and JSON that is beside submissions."""
    evil = '"a", "(a+)+$"'
    yield Attack(
        "a pattern without an end",
        _both(
            _replace("transcripts/chapter.toml", '"#"', evil),
            _replace("transcripts/recorded/count-it.json", '"5"', f'"{"a" * 100}!"'),
        ),
        "transcripts/chapter.toml",
    )
    stars = "*".join(["a"] * 900)
    yield Attack(
        "a pattern of stars",
        _both(
            _replace("transcripts/chapter.toml", '"#"', f'"{stars}!"'),
            _replace("transcripts/recorded/count-it.json", '"5"', ", ".join([f'"{"a" * 104}"'] * 30)),
        ),
        "transcripts/chapter.toml",
    )
    numbers = "#" * 1900
    yield Attack(
        "a pattern of numbers",
        _both(
            _replace("transcripts/chapter.toml", '"#"', f'"{numbers}!"'),
            _replace("transcripts/recorded/count-it.json", '"5"', ", ".join([f'"{"1" * 104}"'] * 30)),
        ),
        "transcripts/chapter.toml",
    )
    yield Attack(
        "a record of 1 000 000 lines",
        _replace("transcripts/recorded/count-it.json", '"5"', ",".join(['"5"'] * 60_000)),
        "recorded/count-it.json",
        has_line=True,
    )
    yield Attack(
        "a record of no transcript",
        _write("transcripts/recorded/other.json", "{}"),
        "recorded/other.json",
        has_line=True,
    )
    yield Attack(
        "an escape in a record",
        _replace("transcripts/recorded/count-it.json", '"5"', '"\\u001b[31m5"'),
        "recorded/count-it.json",
        has_line=True,
    )
    dots = ".".join(["a"] * 100_000)
    for name in (
        "changes.toml",
        "claims.toml",
        "references.toml",
        "explanations.toml",
        f"{SOURCE}/source.toml",
        f"{SUITE}/suite.toml",
        "tools/tools.toml",
        "transcripts/chapter.toml",
    ):
        yield Attack(f"{name} of dotted keys", _write(name, f"{dots} = 1\n"), name, has_line=True)
        yield Attack(f"{name} of brackets", _write(name, "a = " + "[" * 100_000), name)
        yield Attack(
            f"{name} of unknown keys", _append(name, *(f"k{one} = 1\n" for one in range(10_000))), name, has_line=True
        )
        yield Attack(f"{name} not UTF-8", _write(name, b"a = 1\nb = '\xff'\n"), name, has_line=True)
    for name, kind, body in (
        ("claims.toml", "claim", 'subject = "Stacks"\n'),
        ("references.toml", "reference", 'says = "x"\n'),
        ("explanations.toml", "explanation", 'says = "x"\n'),
    ):
        yield Attack(f"{name} of 5000 entries", _write(name, _entries(kind, 5000, body)), name, has_line=True)
    yield Attack("a change of what is not there", _replace("changes.toml", "a-talk", "no-talk"), "changes.toml")
    yield Attack(
        "a change with a path", _replace("changes.toml", "a-talk", "../../etc/passwd"), "changes.toml", has_line=True
    )
    yield Attack(
        "a correction without values", _replace("changes.toml", '"added"', '"corrected"'), "changes.toml", has_line=True
    )
    yield Attack(
        "a link to a script",
        _replace("claims.toml", "https://example.org/", "javascript:alert(1)"),
        "claims.toml",
        has_line=True,
    )
    yield Attack(
        "a claim with a key of stars",
        _replace("claims.toml", 'missing = "A number."', f'numbers = ["{"*" * 90}.x"]\nabove = 1.0'),
        "claims.toml",
        has_line=True,
    )
    yield Attack(
        "a tool twice",
        _append("tools/tools.toml", '\n[[tools]]\nname = "opensnoop"\nanswers = "x"\nevent = "x"\nremark = "x"\n'),
        "tools/tools.toml",
        has_line=True,
    )
    yield Attack(
        "a tool of another tracer",
        _replace("tools/tools.toml", '"bpftrace"', '"evil"'),
        "tools/tools.toml",
        has_line=True,
    )
    yield Attack(
        "a suite of another's workload",
        _replace(f"{SUITE}/suite.toml", 'program = "', 'suite = "../../../etc"\nprogram = "'),
        "suite.toml",
        has_line=True,
    )
    yield Attack(
        "a suite with a path as program",
        _replace(f"{SUITE}/suite.toml", 'program = "', 'program = "../'),
        "suite.toml",
        has_line=True,
    )
    yield Attack(
        "a case that is like itself",
        _replace(f"{SUITE}/suite.toml", 'id = "02-kprobe"', 'id = "02-kprobe"\nlike = "02-kprobe"'),
        "suite.toml",
    )
    kernel = "mechanisms/6.1.0-50-amd64.json"
    yield Attack("an unknown mechanism", _replace(kernel, "perf-tracepoint", "no-such"), kernel, has_line=True)
    yield Attack(
        "a mechanism's path", _replace(kernel, '"kernel_release": "6', '"kernel_release": "../6'), kernel, has_line=True
    )
    yield Attack("an unfinished run", _write(f"{SUBMISSION}/plan.json", "{}"), "plan.json")
    manifest = "releases/2026.11/manifest.json"
    yield Attack("a release of one file many times", _archive(5000), manifest, has_line=True)
    yield Attack(
        "a release of a path elsewhere", _replace(manifest, '"path": "', '"path": "../'), manifest, has_line=True
    )
    yield Attack("a release of another version", _replace(manifest, '"2026.11"', '"2026.10"'), manifest)
    yield Attack("a release of a large manifest", _write(manifest, "[" + "1," * 3_000_000 + "1]"), manifest)
    yield Attack(
        "a cut archive", lambda data: os.truncate(data / "releases/2026.11/probe-effect-2026.11.zip", 500), ".zip"
    )
    yield Attack("an archive of zeros", _write("releases/2026.11/probe-effect-2026.11.zip", bytes(1 << 20)), ".zip")
    yield Attack(
        "a release of another name",
        lambda data: (data / "releases/2026.11").rename(data / "releases/x"),
        "releases/x",
    )
    yield Attack("another row in a released file", _append(f"{SUBMISSION}/samples.csv", ""), "")


WORST = frozenset(
    {
        "a billion blocks beside another machine",
        "the machine index",
        "the file .gitattributes",
        "the file results/install.sh",
        "a machine that is no UTF-8",
        "3000 folders deep in results",
        "a pattern without an end",
        "a release of one file many times",
        "another machine of the same id",
    }
)
"""Those that are tried in the first tier too."""


class Workshop:
    """A sound data folder, of which each attack gets a copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = sound_data(folder / "sound")
        self.usual = run(["check", "--format", "json", "--data", str(self.data)], folder)

    def copy(self, make: Callable[[Path], object]) -> Path:
        """A changed copy in a folder of its own, in which everything made before is gone."""
        target = self.folder / "tried"
        subprocess.run(["rm", "-rf", str(target)], check=True)  # noqa: S607 (Python's own cannot go that deep)
        shutil.copytree(self.data, target / "data")
        make(target / "data")
        return target

    def check(self, attack: Attack) -> Outcome:
        """What `check` says of one."""
        folder = self.copy(attack.make)
        return run(["check", "--format", "json", "--data", str(folder / "data")], folder)


class Repository:
    """A sound data folder in git; each attack is a branch."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.folder = workshop.folder / "repository"
        shutil.copytree(workshop.data, self.folder / "data")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "published")
        self.git("branch", "same")
        self.usual = self.review("same")

    def git(self, *words: str, given: bytes | None = None) -> str:
        """What git prints."""
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, input=given)  # noqa: S607
        return done.stdout.decode().strip()

    def review(self, branch: str) -> Outcome:
        """What `review` says of a branch; the verdict is its first line."""
        return run(["review", "main", branch], self.folder)

    def blob(self, content: bytes) -> str:
        """The id of a file."""
        return self.git("hash-object", "-w", "--stdin", given=content)

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """The id of a folder of (mode, id, name)."""
        kinds = {"040000": "tree", "160000": "commit"}
        lines = (f"{mode} {kinds.get(mode, 'blob')} {one}\t{name}\0" for mode, one, name in entries)
        return self.git("mktree", "-z", "--missing", given="".join(lines).encode("utf-8", "surrogateescape"))

    def data_with(self, *entries: tuple[str, str, str]) -> str:
        """The published data, with further entries or others in their place."""
        names = {name for *_, name in entries}
        listed = self.git("ls-tree", "main:data").splitlines()
        kept = [(line.split()[0], line.split()[2], line.split("\t")[1]) for line in listed]
        return self.tree(*(one for one in kept if one[2] not in names), *entries)

    def commit(self, data: str) -> str:
        """The id of a commit with this tree as its data."""
        whole = self.tree(("040000", data, "data"))
        return self.git("commit-tree", "-p", "main", "-m", "x", whole)


def _nested(repository: Repository, times: int, name: str, inner: tuple[str, str, str]) -> str:
    """Folders in one another."""
    found = repository.tree(inner)
    for _ in range(times):
        found = repository.tree(("040000", found, name))
    return found


def _bomb(repository: Repository, wide: int, deep: int) -> str:
    """A few trees that stand for `wide` to the power of `deep` files."""
    found = repository.tree(*(("100644", repository.blob(b"x"), f"f{one}") for one in range(wide)))
    for _ in range(deep - 1):
        found = repository.tree(*(("040000", found, f"d{one}") for one in range(wide)))
    return found


def _submissions(repository: Repository, count: int) -> str:
    """One submission, under so many machines."""
    one = repository.git("rev-parse", f"main:data/{SUBMISSION}")
    machine = repository.tree(("040000", one, FOLDER))
    own = repository.git("ls-tree", "main:data/results").splitlines()
    kept = [(line.split()[0], line.split()[2], line.split("\t")[1]) for line in own]
    return repository.tree(*kept, *(("040000", machine, f"m-{number}") for number in range(count)))


def _removed(repository: Repository, *names: str) -> str:
    listed = (line.split(maxsplit=3) for line in repository.git("ls-tree", "main:data").splitlines())
    return repository.tree(*((mode, one, name) for mode, _, one, name in listed if name not in names))


def _in_working_tree(make: Callable[[Path], object]) -> Callable[[Repository], str]:
    """A change that is made in files, and added."""

    def commit(repository: Repository) -> str:
        repository.git("checkout", "--quiet", "--detach", "main")
        make(repository.folder / "data")
        repository.git("add", "--all", "--force")
        repository.git("commit", "--quiet", "--allow-empty", "--message", "x")
        found = repository.git("rev-parse", "HEAD")
        repository.git("checkout", "--quiet", "--force", "main")
        return repository.git("rev-parse", f"{found}:data")

    return commit


def _entry(mode: str, content: bytes, name: str) -> Callable[[Repository], str]:
    return lambda repository: repository.data_with((mode, repository.blob(content), name))


REVISIONS: dict[str, Callable[[Repository], str]] = {
    "all transcripts and tools removed": lambda one: _removed(one, "tools", "transcripts", "mechanisms", "claims.toml"),
    "results removed": lambda one: _removed(one, "results"),
    "suites removed": lambda one: _removed(one, "suites"),
    "everything removed": lambda one: one.tree(),
    "a script": _entry("100755", b"#!/bin/sh\n", "install.sh"),
    "a module": _entry("100644", b"x", "pagefind.py"),
    "attributes of git": _entry("100644", b"results/** text eol=crlf\n", ".gitattributes"),
    "an ignored file": _entry("100644", b"*\n", ".gitignore"),
    "a module of git": lambda one: one.data_with(("160000", "1" * 40, "module")),
    "a link": _entry("120000", b"/etc/passwd", "claims.toml"),
    "an executable document": lambda one: one.data_with(
        ("100755", one.git("rev-parse", "main:data/claims.toml"), "claims.toml")
    ),
    "a name that is no UTF-8": _entry("100644", b"x", "a\udcff.toml"),
    "a name of 300 bytes": _entry("100644", b"x", "a" * 300),
    "a name of 100 000 bytes": _entry("100644", b"x", "a" * 100_000),
    "a name that is a control": _entry("100644", b"x", "a\x1b[31m.toml"),
    "1500 folders deep": lambda one: one.data_with(
        ("040000", _nested(one, 1500, "a", ("100644", one.blob(b"x"), "f")), "a")
    ),
    "10 to the power of 12 files": lambda one: one.data_with(("040000", _bomb(one, 100, 6), "results")),
    "a file of 60 MB of zeros 100 times": lambda one: one.data_with(
        (
            "040000",
            one.tree(*(("100644", one.blob(bytes(60 << 20)), f"z-{place}.toml") for place in range(100))),
            "transcripts",
        )
    ),
    "a machine.json of zeros": _in_working_tree(_write(f"{SUBMISSION}/machine.json", bytes(4 << 20))),
    "3000 submissions": lambda one: one.data_with(("040000", _submissions(one, 3000), "results")),
    "300 submissions": lambda one: one.data_with(("040000", _submissions(one, 300), "results")),
    "a billion blocks": _in_working_tree(_key("run.blocks", 10**9)),
    "the machine index": _in_working_tree(_machine("index")),
    "a changed claim": _in_working_tree(_replace("claims.toml", "Tracing is free.", "Tracing is cheap.")),
    "a changed command": _in_working_tree(_replace("transcripts/chapter.toml", "echo 5", "id")),
    "a changed script": _in_working_tree(_append(f"{SUITE}/02-kprobe.bt", "\n")),
    "a run in the project's name": _in_working_tree(_machine("of-the-project")),
    "a results that is a file": _entry("100644", b"x", "results"),
}
"""Name to what makes the tree of `data/`."""


def revised(repository: Repository, name: str) -> Outcome:
    """What `review` says of one."""
    return repository.review(repository.commit(REVISIONS[name](repository)))


def _table(title: str, found: Sequence[tuple[str, Outcome]], usual: Outcome) -> Iterator[str]:
    """The worst by time and by memory, in what they take beyond what sound data take."""
    yield f"{title}: {len(found)}, {sum('Traceback' in one.errors for _, one in found)} of them with a traceback"
    used = {
        "s": [(one.cpu_seconds - usual.cpu_seconds, name) for name, one in found],
        "MB": [((one.memory_bytes - usual.memory_bytes) / 1e6, name) for name, one in found],
    }
    for unit, each in used.items():
        yield from (f"  {value:7.1f} {unit:2} more  {name}" for value, name in sorted(each, reverse=True)[:5])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        workshop = Workshop(Path(work))
        folders = [(one.name, workshop.check(one)) for one in attacks()]
        sys.stdout.writelines(f"{line}\n" for line in _table("folders through check", folders, workshop.usual))
        repository = Repository(workshop)
        branches = [(name, revised(repository, name)) for name in REVISIONS]
        sys.stdout.writelines(f"{line}\n" for line in _table("revisions through review", branches, repository.usual))
        workshop.copy(lambda _: None)
