"""A suite has the files that its cases name, there are the cases that these refer to, and each has an id of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.script_forms import linux_form, plain_form
from probe_effect.store.suite_file import Suite, script_path, script_paths, workload_source
from probe_effect.tools.record import TOOLS


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """A suite whose `suite.toml` could be read."""

    folder: Path
    suite: Suite
    known: Mapping[str, Suite]
    """Every sound suite by id."""


@rule("suite-scripts")
def _suite_scripts(checked: CheckedSuite) -> Iterator[Fault]:
    suite, folder = checked.suite, checked.folder
    if suite.id != folder.name:
        yield _fault(f"id `{suite.id}` in folder `{folder.name}`", "use the folder's name")
    if not workload_source(folder, suite).is_file():
        yield _fault(f"workload/{suite.workload.program} is missing", "add the program's source")
    for case in suite.cases:
        tools = [tool for tool in TOOLS if script_paths(folder, suite, case.id, tool)]
        if not tools:
            yield _fault(f"case `{case.id}` has no script", f"add {case.id}.bt or {case.id}.d")
        is_twin = case.counted_by == "twin"
        if is_twin and "bpftrace" in tools and not script_path(folder, case.id, "bpftrace", check=True):
            yield _fault(f"case `{case.id}` is counted by a twin that is missing", f"add {case.id}.check.bt")
        if is_twin and _lacks_linux_twin(folder, case.id):
            found = f"case `{case.id}` is counted by a twin that is missing on Linux"
            yield _fault(found, f"add {case.id}.check.d and {case.id}.check.linux.d")
    yield from _form_faults(folder)
    yield from _reference_faults(checked)


def _lacks_linux_twin(folder: Path, case_id: str) -> bool:
    """A script with a form for Linux needs a twin with one, or on Linux the twin names a function that is not there."""
    script, twin = (script_path(folder, case_id, "dtrace", check=check) for check in (False, True))
    return bool(script and linux_form(script) and not (twin and linux_form(twin)))


def _form_faults(folder: Path) -> Iterator[Fault]:
    """Only a script that is there can have a form for Linux, because nobody asks for that by its own name."""
    for path in sorted(folder.iterdir()):
        plain = plain_form(path)
        if plain and not plain.is_file():
            found = f"script `{path.name}` is the form for Linux of a script that is missing"
            yield _fault(found, f"add {plain.name}, or give it that name")


def _reference_faults(checked: CheckedSuite) -> Iterator[Fault]:
    known = {case.id for suite in (checked.suite, *checked.known.values()) for case in suite.cases}
    for case in checked.suite.cases:
        for name in case.references():
            if name not in known or name == case.id:
                hint = "name another case of a known suite in `like`, `parts` and `composed`"
                yield _fault(f"case `{case.id}` refers to `{name}`, which is no other case", hint)


@rule("unique-cases")
def _unique_cases(checked: CheckedSuite) -> Iterator[Fault]:
    """A case's id says which case it is, without its suite: pages, figures and commands name it so."""
    seen: set[str] = set()
    for case in checked.suite.cases:
        if case.id in seen:
            yield _fault(f"there are two cases `{case.id}`", "give each case an id of its own")
        seen.add(case.id)
    for other in checked.known.values():
        if other.id == checked.suite.id:
            continue
        for case in (one for one in other.cases if one.id in seen):
            found = f"case `{case.id}` is in suite `{other.id}` too"
            yield _fault(found, "give it an id of its own, as in 01-usdt-control")


def _fault(found: str, hint: str) -> Fault:
    return Fault("suite.toml", None, found, hint)


RULES = (_suite_scripts, _unique_cases)
