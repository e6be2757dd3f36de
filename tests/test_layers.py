"""The house's walls, read from the imports themselves: dependencies go downward only."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from builders import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = PROJECT / "generator" / "probe_effect"
MODULES = sorted(PACKAGE.rglob("*.py"))

GROUND = {"errors", "units", "model", "tools", "toml"}
HOST = {"host", "processes", "compilers"}
"""The running system: files of the kernel, and programs that we start or compile."""

NUMBERS = {"store", "stats", "reduce", "numbers", "compare", "scripts", "costs", "answer"}
"""From rows to answers, each on top of those before it."""

MAY_IMPORT = {
    "errors": set[str](),
    "units": set[str](),
    "model": set[str](),
    "toml": set[str](),
    "tools": {"toml"},
    "host": {"errors", "model", "toml"},
    "processes": set[str](),
    "compilers": {"errors", "host"},
    "scripts": GROUND,
    "store": GROUND,
    "stats": GROUND,
    "reduce": GROUND | {"store", "stats"},
    "numbers": GROUND | {"store", "stats", "reduce"},
    "wanted": GROUND | {"store", "stats", "reduce", "numbers"},
    "compare": GROUND | {"store", "stats", "reduce", "numbers"},
    "costs": GROUND | {"store", "stats", "reduce", "numbers", "compare", "scripts"},
    "answer": GROUND | {"store", "stats", "reduce", "numbers", "compare", "scripts", "costs"},
    "checks": GROUND | {"store", "stats", "reduce", "numbers"},
    "submit": GROUND | {"host", "store"},
    "charts": {"model", "units", "tools", "toml", "store", "reduce"},
    "pages": GROUND | NUMBERS | {"charts", "wanted"},
    "review": GROUND | NUMBERS | {"pages"},
    "exports": GROUND | NUMBERS | {"checks", "charts", "pages", "scripts"},
    "machine": GROUND | HOST | {"store"},
    "tracers": GROUND | HOST | {"store"},
    "guide": GROUND | HOST | {"store", "tracers"},
    "live": GROUND | HOST | {"store", "stats", "tracers", "scripts"},
    "calibration": GROUND | HOST | NUMBERS | {"live", "tracers"},
    "advising": GROUND | HOST | NUMBERS | {"live", "calibration", "machine", "tracers"},
    "trial": GROUND | HOST | NUMBERS | {"live", "tracers", "calibration", "advising", "charts"},
    "workloads": GROUND | HOST | {"store"},
    "measure": GROUND | HOST | {"store", "stats", "machine", "tracers", "workloads"},
    "emulated": GROUND | HOST | {"store", "machine", "tracers", "workloads", "measure"},
}
"""Each layer to those below it; `cli` may import all."""

ACCEPTED = {("errors", "model"), ("units", "model")}
"""For their types only: `BadData` carries problems, and intervals are written."""

FILE_NAMES = {
    "samples.csv",
    "machine.json",
    "figures.csv",
    "source.toml",
    "suite.toml",
    "histogram.csv",
    "calibration.csv",
    "plan.json",
}

NAMES_FILES_TOO = {
    "checks",  # a problem says in which file it is
    "exports/assemble.py",  # copies raw data for download
    "exports/labels.py",  # describes them
    "exports/data_folder.py",  # likewise
    "numbers/catalogue.py",  # names the file of a problem
    "measure/request.py",  # likewise
}
"""Modules outside `store` that say a data file's name today, each for the reason given."""


def layer(path: Path) -> str:
    """The first name below the package: a folder, or a module of the ground floor."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """A module, which several tests look at, parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> list[tuple[str, int]]:
    """Every absolute name that a module imports, also for its types only, with the line."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: relative import"
            assert node.module is not None
            found += ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
    return found


def types_defined(module: ast.Module) -> Iterator[str]:
    """The classes and the aliases of types that a module defines, also those for its types only."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            yield node.name
    blocks = [node.body for node in module.body if isinstance(node, ast.If)]
    for node in [*module.body, *(one for block in blocks for one in block)]:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id[0].isupper()
            and not node.targets[0].id.isupper()
        ):
            yield node.targets[0].id


def own_layers(path: Path) -> Iterator[tuple[str, int]]:
    """The layers of the package that a module imports."""
    for target, line in imported(path):
        if target.startswith("probe_effect."):
            part = target.split(".")[1]
            if part != "__version__":
                yield part, line


def test_every_module_belongs_to_a_layer() -> None:
    found = {layer(path) for path in MODULES} - {"__init__", "cli"}
    assert found == set(MAY_IMPORT)


@pytest.mark.parametrize("here", MAY_IMPORT)
def test_a_module_imports_only_its_own_layer_and_those_below(here: str) -> None:
    allowed = MAY_IMPORT[here] | {here} | {other for own, other in ACCEPTED if own == here}
    imports = ((path, line, part) for path in MODULES if layer(path) == here for part, line in own_layers(path))
    assert [(name(path), line, part) for path, line, part in imports if part not in allowed] == []


def test_no_class_or_type_has_the_name_of_another() -> None:
    named = [one for path in MODULES for one in types_defined(tree(path))]
    assert [one for one, times in Counter(named).items() if times > 1] == []


def test_charts_know_of_the_store_only_that_drawings_are_kept() -> None:
    known = {target for path in MODULES if layer(path) == "charts" for target, _ in imported(path)}
    assert {target.split(".")[2] for target in known if target.startswith("probe_effect.store.")} == {"kept"}


def test_the_order_of_layers_has_no_circle() -> None:
    left = {here: set(below) for here, below in MAY_IMPORT.items()}
    while left:
        lowest = {here for here, below in left.items() if not below & left.keys()}
        assert lowest, f"a circle among {sorted(left)}"
        left = {here: below for here, below in left.items() if here not in lowest}


@pytest.mark.parametrize("package", sorted({layer(path) for path in MODULES}))
def test_no_modules_of_a_package_import_one_another_in_a_circle(package: str) -> None:
    own = [path for path in MODULES if layer(path) == package]
    TopologicalSorter({path: modules_named(path) & set(own) - {path} for path in own}).prepare()


@pytest.mark.parametrize(
    ("layers", "strangers"),
    [
        pytest.param({"machine"}, {"tracers", "workloads", "measure"}, id="machine"),
        pytest.param({"tracers"}, {"machine", "workloads", "measure"}, id="tracers"),
        pytest.param({"workloads"}, {"machine", "tracers", "measure"}, id="workloads"),
        pytest.param({"measure"}, {"pages", "charts", "exports", "checks"}, id="measuring knows no pages"),
        pytest.param({"measure", "tracers", "machine"}, {"emulated"}, id="measuring knows no emulated machine"),
        pytest.param({"measure"}, NUMBERS - {"store", "stats"}, id="measuring knows no numbers"),
        pytest.param({"checks"}, {"compare", "costs", "answer"}, id="checks compare nothing"),
        pytest.param(
            {"pages", "charts", "exports"}, {"measure", "machine", "tracers", "workloads"}, id="pages know no measuring"
        ),
    ],
)
def test_layers_side_by_side_do_not_know_one_another(layers: set[str], strangers: set[str]) -> None:
    known = {part for path in MODULES if layer(path) in layers for part, _ in own_layers(path)}
    assert known
    assert not known & strangers


def printing(path: Path) -> Iterator[str]:
    """Where a module prints, reads or ends the program."""
    yield from (f"{line}: {target}" for target, line in imported(path) if target.split(".")[0] in {"click", "rich"})
    for node in ast.walk(tree(path)):
        match node:
            case ast.Call(func=ast.Name(id="print" | "exit" | "quit" | "input" as called)):
                yield f"{node.lineno}: {called}()"
            case ast.Attribute(value=ast.Name(id="sys"), attr="exit" | "stdout" | "stderr" as used):
                yield f"{node.lineno}: sys.{used}"
            case ast.Attribute(value=ast.Name(id="os"), attr="_exit" | "abort" as used):
                yield f"{node.lineno}: os.{used}"
            case ast.Name(id="SystemExit"):
                yield f"{node.lineno}: SystemExit"


def test_only_the_command_line_prints_or_exits() -> None:
    others = [path for path in MODULES if layer(path) not in {"cli", "__init__"}]
    assert {name(path): found for path in others if (found := list(printing(path)))} == {}


def literals(path: Path) -> Iterator[str]:
    """The strings of a module that are values, docstrings left out."""
    alone = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def names_files(path: Path) -> bool:
    return not FILE_NAMES.isdisjoint(literals(path))


def test_data_files_are_named_by_store_and_few_others() -> None:
    found = {name(path) for path in MODULES if layer(path) != "store" and names_files(path)}
    assert {"checks" if one.startswith("checks/") else one for one in found} == NAMES_FILES_TOO


def test_statistics_are_pure() -> None:
    touched = {target.split(".")[0] for path in MODULES if layer(path) == "stats" for target, _ in imported(path)}
    assert not touched & {"os", "pathlib", "io", "time", "datetime", "random", "secrets", "subprocess", "scipy"}


# What is kept between runs


KEPT = {
    "reduce/reading.py": ["reduce/reading.py"],
    "pages/number_page.py": ["reduce/reading.py", "pages/markdown.py"],
    "pages/submission_page.py": ["reduce/reading.py", "pages/markdown.py"],
    "checks/run.py": ["reduce/reading.py", "checks/run.py"],
    "checks/alike.py": ["reduce/reading.py", "checks/alike.py"],
    "costs/evidence.py": ["reduce/reading.py", "costs/evidence.py"],
    "checks/copies.py": ["reduce/reading.py", "checks/copies.py"],
    "exports/script_values.py": ["reduce/reading.py", "pages/markdown.py", "exports/script_values.py"],
}
"""A module whose results are kept, to those that name the code by which they are made."""


def code_named(path: Path) -> set[str]:
    """The words of every `code_version` of a module."""
    calls = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call))
    named = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "code_version")
    return {
        one.value for call in named for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def made_by(path: Path) -> set[Path]:
    """All modules that run when `path` does, itself too."""
    found, waiting = {path}, [path]
    while waiting:
        here = waiting.pop()
        waiting += (more := modules_run(here) - found)
        found |= more
    return found


def modules_run(path: Path) -> set[Path]:
    """Those that a module imports, but for types only."""
    typing = [
        node for node in ast.walk(tree(path)) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return modules_named(path, frozenset(id(node) for block in typing for node in ast.walk(block)))


def modules_named(path: Path, left_out: frozenset[int] = frozenset()) -> set[Path]:
    """Those that a module imports, also for types only; `left_out`: nodes that are not looked at."""
    names = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and id(node) not in left_out
        for alias in node.names
    }
    places = {
        PACKAGE.joinpath(*part.split(".")[1:]).with_suffix(".py")
        for one in names
        for part in (one, one.rpartition(".")[0])
    }
    return places & set(MODULES)


@pytest.mark.parametrize("makes", KEPT)
def test_what_is_kept_is_made_anew_when_any_code_that_makes_it_changes(makes: str) -> None:
    parts = set().union(*(code_named(PACKAGE / one) for one in KEPT[makes]))
    assert parts
    unnamed = {name(path) for path in made_by(PACKAGE / makes) if layer(path) not in parts}
    assert unnamed == set()


def test_everything_that_names_its_code_is_looked_at_above() -> None:
    keeping = {name(path) for path in MODULES if code_named(path)}
    others = {"charts/draw.py", "exports/build.py"}  # one names modules that import no others, one all there are
    assert keeping - others == {one for named in KEPT.values() for one in named}
