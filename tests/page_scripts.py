"""The scripts of pages under node, without a page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from builders import PROJECT
from site_build import absent

PARTS = "tokens clauses actions commands reader cost".split()
NAMES = ("page", "units", "prediction", "comparison", "files", *(f"script-{part}" for part in PARTS))
SCRIPTS = [PROJECT / f"site/assets/js/{name}.js" for name in NAMES]

PROGRAM = """
const fs = require("fs"), vm = require("vm");
globalThis.document = { currentScript: { src: "https://site.example/js/bundle.js" } };
const [scripts, ...asked] = JSON.parse(fs.readFileSync(0, "utf8"));
scripts.forEach((path) => vm.runInThisContext(fs.readFileSync(path, "utf8"), { filename: path }));
"""


def under_node(program: str, *asked: object) -> Any:  # noqa: ANN401 (JSON)
    """What a program prints that has the scripts, and what is `asked`."""
    node = shutil.which("node", path=f"{Path(sys.executable).parent}") or shutil.which("node")
    if node is None:
        absent("node is not installed: make test installs it")
    given = json.dumps([[str(path) for path in SCRIPTS], *asked])
    done = subprocess.run([node, "-e", PROGRAM + program], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
