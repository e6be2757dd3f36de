"""The house's walls, read from the imports themselves: dependencies go downward only."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PACKAGE = PROJECT / "generator" / "probe_effect"
MODULES = sorted(PACKAGE.rglob("*.py"))

GROUND = {"units", "model", "records"}

NUMBERS = {"store", "numbers", "compare", "scripts", "costs", "answer"}
"""From rows to answers, each on top of those before it."""

MAY_IMPORT = {
    "units": set[str](),
    "model": set[str](),
    "records": set[str](),
    "scripts": GROUND,
    "store": GROUND,
    "host": GROUND | {"store"},
    "tracers": GROUND | {"host", "store"},
    "numbers": GROUND | {"store"},
    "compare": GROUND | {"store", "numbers"},
    "costs": GROUND | {"store", "numbers", "scripts"},
    "answer": GROUND | {"store", "numbers", "compare", "scripts", "costs"},
    "checks": GROUND | {"store", "numbers"},
    "site/charts": {"model", "units", "records", "store", "numbers"},
    "site/pages": GROUND | NUMBERS | {"site/charts"},
    "site": GROUND | NUMBERS | {"checks", "site/charts", "site/pages"},
    "intake": GROUND | NUMBERS | {"host", "site/pages"},
    "live": GROUND | {"host", "store", "numbers", "tracers", "scripts", "costs"},
    "advising": GROUND | NUMBERS | {"host", "live", "tracers", "site/charts"},
    "measure": GROUND | {"host", "store", "numbers", "live", "tracers"},
    "guests": GROUND | {"host", "store", "tracers", "measure"},
}
"""Each layer to those below it; `cli` may import all."""

ACCEPTED = {("units", "model")}
"""For its types only: intervals are written."""

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
    "site/assemble.py",  # copies raw data for download
    "site/data_folder.py",  # describes them
    "numbers/catalogue.py",  # names the file of a problem
    "site/pages/number_page.py",  # leads to the rows of a number
    "site/pages/source_page.py",  # leads to them
    "site/pages/fragments.py",  # leads to them
    "measure/request.py",  # likewise
}
"""Modules outside `store` that say a data file's name today, each for the reason given."""


def layer(path: Path) -> str:
    """The package that a module is in, or the module itself on the ground floor."""
    return layer_of([part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts])


def layer_of(parts: Sequence[str]) -> str:
    """The layer of a name below the package, by its parts."""
    return "/".join(parts[: 2 if parts[0] == "site" and len(parts) > 1 and parts[1] in SHELVES else 1])


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


SHELVES = ("pages", "charts")
"""Packages within `site`."""


def own_layers(path: Path) -> Iterator[tuple[str, int]]:
    """The layers of the package that a module imports."""
    for target, line in imported(path):
        if target.startswith("probe_effect."):
            parts = target.split(".")[1:]
            if parts[0] != "__version__":
                yield layer_of(parts), line


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
    known = {target for path in MODULES if layer(path) == "site/charts" for target, _ in imported(path)}
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
        pytest.param({"host"}, {"tracers", "measure"}, id="the system knows no tools"),
        pytest.param({"tracers"}, {"measure"}, id="tools know no measuring"),
        pytest.param({"measure"}, {"site", "site/pages", "site/charts", "checks"}, id="measuring knows no pages"),
        pytest.param({"measure", "tracers", "host"}, {"guests"}, id="measuring knows no emulated machine"),
        pytest.param({"measure"}, NUMBERS - {"store", "numbers"}, id="measuring knows no costs"),
        pytest.param({"checks"}, {"compare", "costs", "answer"}, id="checks compare nothing"),
        pytest.param(
            {"site/pages", "site/charts", "site"}, {"measure", "host", "tracers"}, id="pages know no measuring"
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
    statistics = ("counted.py", "estimates.py", "trends.py")
    touched = {target.split(".")[0] for one in statistics for target, _ in imported(PACKAGE / "numbers" / one)}
    assert not touched & {"os", "pathlib", "io", "time", "datetime", "random", "secrets", "subprocess", "scipy"}


def test_of_numbers_measuring_knows_the_estimates_of_pairs_alone() -> None:
    known = {target for path in MODULES if layer(path) == "measure" for target, _ in imported(path)}
    assert {target.split(".")[2] for target in known if target.startswith("probe_effect.numbers.")} == {"estimates"}


# What is kept between runs


KEPT = {
    "numbers/catalogue.py": ["numbers/catalogue.py"],
    "site/pages/number_page.py": ["numbers/catalogue.py", "site/pages/parts.py"],
    "site/pages/submission_page.py": ["numbers/catalogue.py", "site/pages/parts.py"],
    "checks/run.py": ["numbers/catalogue.py", "checks/run.py"],
    "costs/evidence.py": ["numbers/catalogue.py", "costs/evidence.py"],
    "checks/copies.py": ["numbers/catalogue.py", "checks/copies.py"],
    "site/script_values.py": ["numbers/catalogue.py", "site/pages/parts.py", "site/script_values.py"],
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
    others = {"site/charts/draw.py", "site/build.py"}  # one names modules that import no others, one all there are
    assert keeping - others == {one for named in KEPT.values() for one in named}


def test_hacking_says_what_each_package_does() -> None:
    table = (PROJECT / "generator" / "HACKING.md").read_text(encoding="utf-8").partition("| Package |")[2]
    rows = table.partition("\n\n")[0].splitlines()
    named = set(re.findall(r"`(\w+)/?`", "".join(row.split("|")[1] for row in rows)))
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert named == packages | modules


def test_hacking_names_no_file_that_is_not_there() -> None:
    text = (PROJECT / "generator" / "HACKING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.-]+/[\w./-]*)`", text))
    assert named
    made = {name for name in named if name.startswith("build/")}
    places = (PROJECT, PACKAGE, PACKAGE.parent)
    assert {name for name in named - made if not any((place / name).exists() for place in places)} == set()


SAYING_NOTHING = {"found", "known", "one", "place", "said"}
"""Each of these once named values of dozens of types."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_value_is_called_by_what_it_is(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    fields = {node.target for node in nodes if isinstance(node, ast.AnnAssign)}
    values = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - {
        field.id for field in fields if isinstance(field, ast.Name)
    }
    assert not SAYING_NOTHING & (values | {node.arg for node in nodes if isinstance(node, ast.arg)})
