"""Stands in for GitHub's command line `gh`: answers from the hub's folder, and writes down what it was asked.

`state.json` has the pull requests and their comments, `runs/ID/NAME` what a run has kept, `repository.git` the rest.
`--jq` is done by gojq, which the real one has inside.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

HUB = Path(os.environ["HUB"])
STATE = HUB / "state.json"
OWNER, NAME = "them", "probe-effect"
PAGE = 100
MOST_FILES = 300


class Unknown(Exception):
    """GitHub has no such thing."""


def git(*words: str) -> str:
    """What git says of the repository."""
    command = ["git", "-C", str(HUB / "repository.git"), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def files(base: str, head: str) -> list[dict[str, str]]:
    """What a commit changes against where it left its base."""
    lines = git("diff", "--name-status", "-M", f"{base}...{head}").splitlines()
    words = [line.split("\t") for line in lines]
    return [
        {"filename": names[-1], "status": status, **({"previous_filename": names[0]} if len(names) > 1 else {})}
        for status, *names in words
    ]


def artifacts(run: str) -> list[dict[str, Any]]:
    """What a run has kept, packed as GitHub would."""
    folders = sorted((HUB / "runs" / run).glob("*"))
    return [
        {"id": number, "name": folder.name, "size_in_bytes": len(packed(folder)), "expired": False}
        for number, folder in enumerate(folders, start=int(run) * 100)
    ]


def packed(folder: Path) -> bytes:
    """The files of an artefact in an archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for one in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(one, one.relative_to(folder))
    return file.getvalue()


def read(  # noqa: PLR0911 (an address each)
    state: dict[str, Any], path: str, query: dict[str, list[str]]
) -> Any:  # noqa: ANN401 (JSON)
    """What GitHub answers, below the repository."""
    pulls: dict[str, Any] = state["pulls"]
    if path == "":
        own = {"owner": {"login": OWNER}, "name": NAME, "full_name": f"{OWNER}/{NAME}", "default_branch": "main"}
        return own | {"fork": "source" in state} | ({"source": state["source"]} if "source" in state else {})
    if path == "pages":
        return {"html_url": f"https://{OWNER}.github.io/{NAME}/"}
    if path == "pulls":
        heads = query.get("head", [])
        return [one for one in pulls.values() if not heads or one["head"]["label"] in heads]
    if found := re.fullmatch(r"pulls/(\d+)(/files)?", path):
        pull = pulls[found[1]]
        listed = files(pull["base"]["sha"], pull["head"]["sha"])
        return listed if found[2] else {**pull, "changed_files": len(listed)}
    if found := re.fullmatch(r"compare/([\w%]+)\.\.\.(\w+)", path):
        return {"files": files(unquote(found[1]), found[2])[:MOST_FILES]}
    if found := re.fullmatch(r"issues/(\d+)/comments", path):
        return state["comments"].get(found[1], [])
    if found := re.fullmatch(r"actions/runs/(\d+)/artifacts", path):
        names = query.get("name", [])
        kept = [one for one in artifacts(found[1]) if not names or one["name"] in names]
        return {"total_count": len(kept), "artifacts": kept}
    if found := re.fullmatch(r"actions/artifacts/(\d+)/zip", path):
        run, place = divmod(int(found[1]), 100)
        return packed(sorted((HUB / "runs" / str(run)).glob("*"))[place])
    raise Unknown(path)


def write(state: dict[str, Any], method: str, path: str, fields: dict[str, str]) -> Any:  # noqa: ANN401 (JSON)
    """Do it, and answer as GitHub would."""
    if method == "POST" and (found := re.fullmatch(r"issues/(\d+)/comments", path)):
        standing = state["comments"].setdefault(found[1], [])
        number = 1000 + sum(map(len, state["comments"].values()))
        standing.append({"id": number, "user": {"login": "github-actions[bot]"}, **fields})
        return standing[-1]
    if method == "PATCH" and (found := re.fullmatch(r"issues/comments/(\d+)", path)):
        for one in (one for comments in state["comments"].values() for one in comments):
            if one["id"] == int(found[1]):
                one.update(fields)
                return one
    raise Unknown(path)


def field(text: str) -> tuple[str, str]:
    """A name and its value, which may be a file's."""
    name, _, value = text.partition("=")
    return name, Path(value[1:]).read_text(encoding="utf-8") if value.startswith("@") else value


def jq(program: str, value: object) -> bytes:
    """What the expression makes of the value."""
    command = [os.environ["GOJQ"], "--raw-output", program]
    return subprocess.run(command, input=json.dumps(value).encode(), check=True, stdout=subprocess.PIPE).stdout


def api(words: list[str]) -> bytes:
    """`gh api`."""
    parser = argparse.ArgumentParser()
    for flag in ("--paginate", "--slurp", "--silent"):
        parser.add_argument(flag, action="store_true")
    for option in ("--method", "--jq", "--hostname", "--header"):
        parser.add_argument(option)
    parser.add_argument("--field", "-f", "-F", "--raw-field", action="append", default=[])
    parser.add_argument("address")
    asked = parser.parse_args(words)
    state = json.loads(STATE.read_text(encoding="utf-8"))
    address = urlsplit(asked.address)
    root, path = f"repos/{OWNER}/{NAME}", address.path.lstrip("/")
    if path != root and not path.startswith(f"{root}/"):
        raise Unknown(path)
    path = path[len(root) + 1 :]
    if asked.method in {None, "GET"} and not asked.field:
        answer = read(state, path, parse_qs(address.query))
    else:
        answer = write(state, asked.method or "POST", path, dict(map(field, asked.field)))
        STATE.write_text(json.dumps(state, indent=1), encoding="utf-8")
    if asked.silent:
        return b""
    if isinstance(answer, bytes):
        return answer
    pages = [answer]
    if isinstance(answer, list):
        pages = [answer[at : at + PAGE] for at in range(0, len(answer), PAGE)] or [[]]
        pages = pages if asked.paginate else pages[:1]
    if asked.slurp:
        return json.dumps(pages).encode()
    return b"".join(jq(asked.jq or ".", page) for page in pages)


def create_request(words: list[str]) -> bytes:
    """`gh pr create`."""
    asked = dict(zip(words[::2], words[1::2], strict=False))
    asked["body"] = sys.stdin.read()
    with (HUB / "requests").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asked) + "\n")
    return f"https://github.com/{OWNER}/{NAME}/pull/99\n".encode()


def create_release(words: list[str]) -> bytes:
    """`gh release create`, which takes its files along."""
    named = [word for word in words[1:] if "/" in word]
    if absent := [word for word in named if not Path(word).is_file()]:
        sys.exit(f"no matches found for {absent}")
    with (HUB / "releases").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tag": words[0], "files": sorted(Path(word).name for word in named)}) + "\n")
    return b""


def main(words: list[str]) -> None:
    """Write it down, and do it."""
    with (HUB / "calls").open("a", encoding="utf-8") as file:
        file.write(" ".join(words) + "\n")
    try:
        match words:
            case ["auth", *_]:
                answer = b""
            case ["api", *rest]:
                answer = api(rest)
            case ["pr", "list", *_]:
                answer = b"[]\n"
            case ["pr", "create", *rest]:
                answer = create_request(rest)
            case ["release", "create", *rest]:
                answer = create_release(rest)
            case _:
                sys.exit(f"unknown command {words}")
    except (Unknown, KeyError, IndexError) as error:
        sys.exit(f"gh: Not Found (HTTP 404): {error}")
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main(sys.argv[1:])
