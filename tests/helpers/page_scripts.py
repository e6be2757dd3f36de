"""The modules of the pages' scripts under node, without a page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers.builders import PROJECT
from helpers.site_build import absent

MODULES = PROJECT / "site/assets/js"

PROGRAM = """
import fs from "node:fs";
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
"""


def under_node(program: str, *asked: object) -> Any:  # noqa: ANN401 (JSON)
    """What a program prints that imports modules as if it were beside them, and has what is `asked`."""
    node = shutil.which("node", path=f"{Path(sys.executable).parent}") or shutil.which("node")
    if node is None:
        absent("node is not installed: make test installs it")
    command = [node, "--input-type=module", "-e", PROGRAM + program]
    done = subprocess.run(command, cwd=MODULES, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
