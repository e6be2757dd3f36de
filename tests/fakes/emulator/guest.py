"""The fake emulator's guest: the real program inside, on this machine, until the folder $FAKE_GUEST has it go wrong.

A file there is a moment, and holds how many runs are made before; with `always` it does not pass:

    silent    it does not answer any more      dies      the emulator ends with status 1
    panics    its kernel panics                refuses   (no number) it never comes up, and says why
    stands    KVM gives up, and the emulator does not end

Asked for a control socket it says that its CPUs are two threads of its own.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

from probe_effect.guests.guest import SUITES, WORKLOADS, GuestRequests, decode, encode, serve
from probe_effect.tracers import tool
from probe_effect.tracers.bpftrace import Bpftrace

FOLDER = Path(os.environ.get("FAKE_GUEST", "/nonexistent"))
ROOT = Path(os.environ.get("FAKE_ROOT", "/nonexistent"))


def is_time_for(moment: str) -> bool:
    """Whether it is the moment."""
    file = FOLDER / moment
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if not text or text == "always":
        return bool(text)
    left = int(text)
    if left > 0:
        file.write_text(str(left - 1), encoding="utf-8")
        return False
    file.unlink()
    return True


class Line:
    """Standard input and output as the serial line, with the guest's places turned into ours."""

    def __init__(self, console: Path) -> None:
        self._console = console

    def __iter__(self):  # type: ignore[no-untyped-def]  # noqa: ANN204
        for text in sys.stdin.buffer:
            request = decode(text)
            if request is None or request["do"] == "run":
                self.go_wrong()
            moved = text.replace(SUITES.encode(), str(ROOT / "data/suites").encode())
            yield moved.replace(WORKLOADS.encode(), os.environ.get("FAKE_WORKLOADS", "").encode())

    def go_wrong(self) -> None:
        """What is to go wrong now."""
        if is_time_for("silent"):
            time.sleep(3600)
        if is_time_for("panics"):
            fault = "[ 0.8] BUG: kernel NULL pointer dereference\n[ 0.9] RIP: 0010:show+0x72/0x90\n" + "[ 0.9] R\n" * 9
            self._console.write_text(f"{fault}[ 1.0] Kernel panic - not syncing: the fake fell over\n[ 1.1] end\n")
            sys.exit(0)
        if is_time_for("stands"):
            sys.stderr.write("KVM internal error. Suberror: 1\nemulation failure\n")
            sys.stderr.flush()
            time.sleep(3600)
        if is_time_for("dies"):
            sys.exit(1)

    def write(self, line: bytes) -> None:
        """To the host, after what a kernel may print on any line."""
        sys.stdout.buffer.write(b"[    0.1] some driver\n" + line)
        sys.stdout.buffer.flush()


def serve_control(server: socket.socket, threads: list[int]) -> None:
    """Answer as QEMU's control socket does: a greeting, then each command, with an event between."""
    line, _ = server.accept()
    line.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\n')
    line.recv(4096)
    cpus = [{"cpu-index": index, "thread-id": thread} for index, thread in enumerate(threads)]
    answers: tuple[dict[str, object], ...] = ({"return": {}}, {"event": "RTC_CHANGE", "data": {}}, {"return": cpus})
    for answer in answers:
        line.sendall(json.dumps(answer).encode() + b"\n")
    line.close()


def open_control(path: str) -> None:
    """Have two threads that last, for the guest's CPUs, and a third one that serves."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    cpus = [threading.Thread(target=time.sleep, args=(3600,), daemon=True) for _ in range(2)]
    for cpu in cpus:
        cpu.start()
    ids = [cpu.native_id or 0 for cpu in cpus]
    (FOLDER / "cpus").write_text(" ".join(map(str, ids)), encoding="utf-8")
    threading.Thread(target=serve_control, args=(server, ids), daemon=True).start()


if __name__ == "__main__":
    os.geteuid = lambda: 0  # as inside
    tool.may_trace = lambda _: True  # type: ignore[attr-defined, assignment]
    if "--version" in sys.argv:
        sys.stdout.write("QEMU emulator version 0.0.0 (a fake)\n")
        sys.exit(0)
    if (FOLDER / "refuses").exists():
        sys.exit((FOLDER / "refuses").read_text(encoding="utf-8"))
    with (FOLDER / "pids").open("a", encoding="utf-8") as pids:
        pids.write(f"{os.getpid()}\n")
    (FOLDER / "words").write_text("\n".join(sys.argv), encoding="utf-8")
    if control := next((word for word in sys.argv if word.startswith("unix:")), None):
        open_control(control.removeprefix("unix:").partition(",")[0])
    console = next(word.removeprefix("file:") for word in sys.argv if word.startswith("file:"))
    line = Line(Path(console))
    line.write(encode({"number": 0}))
    guest = GuestRequests(ROOT / "kernel", lambda: {"bpftrace": Bpftrace(root=ROOT / "kernel")})
    serve(line, guest)  # type: ignore[arg-type]
