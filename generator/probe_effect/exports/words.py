"""What is said of the data wherever it is published: what it is, what its files hold, under which terms."""

import tomllib
from pathlib import Path
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LICENCE: dict[str, str] = WORDS["licence"]
