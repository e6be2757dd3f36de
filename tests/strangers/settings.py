"""Who and where a stranger is: one record each, what makes it so, and what proves it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOT_HERE = 97
"""Exit status of a command that could not be made a stranger's."""

STEP = '{{ {shell}; }} || exit {status}; exec "$@"'

IS_ROOT = os.geteuid() == 0
NOBODY = "65534"
TRACERS = "bpftrace perf strace trace-cmd dtrace stap lttng uftrace bpftool"

INTEL = """
vendor_id: GenuineIntel
cpu family: 6
model: 170
model name: Intel(R) Core(TM) Ultra 7 155H
stepping: 4
microcode: 0x1f
flags: fpu tsc hypervisor
"""
AMD = """
vendor_id: AuthenticAMD
cpu family: 25
model: 116
model name: AMD Ryzen 7 7840U w/ Radeon 780M Graphics
stepping: 1
microcode: 0xa704103
flags: fpu tsc
"""
"""Of a laptop, which is no virtual machine."""
ARM = """
BogoMIPS: 50.00
Features: fp asimd
CPU implementer: 0x41
CPU architecture: 8
CPU variant: 0x0
CPU part: 0xd4f
CPU revision: 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """Somebody's machine or way of running.

    `namespaces`: of unshare(1), what it has of its own. `prepare`: shell that makes it so, in the checkout. `wrapper`:
    a command before the tests' own. `proof`: shell that fails where it is not so.
    """

    name: str
    namespaces: tuple[str, ...] = ()
    prepare: str = ":"
    wrapper: tuple[str, ...] = ()
    proof: str = ":"
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def command(self, words: Sequence[str]) -> list[str]:
        """`words` as the stranger runs them; they end with `NOT_HERE` where this machine does not allow it."""
        apart = ["unshare", *self.namespaces, *([] if IS_ROOT else ["--map-root-user"])]
        return [
            *(apart if self.namespaces else ()),
            *_after(self.prepare),
            *self.wrapper,
            *_after(f'[ -x "$(command -v "$1")" ] && {self.proof}'),
            *words,
        ]


def _after(shell: str) -> list[str]:
    return ["sh", "-c", STEP.format(shell=shell.strip(), status=NOT_HERE), "sh"]


def _seen_by_all() -> str:
    """Shell that shows everybody our Python where it is below root's home, which is closed to others."""
    hidden = [one for one in dict.fromkeys((sys.base_prefix, sys.prefix)) if one.startswith("/root/")]
    aside = [f'mkdir -p "$HOME{one}" && mount --bind {one} "$HOME{one}"' for one in hidden]
    back = [f'mkdir -p {one} && mount --bind "$HOME{one}" {one}' for one in hidden]
    return " && ".join([*aside, "mount -t tmpfs -o mode=755 none /root", *back]) if hidden else ":"


def _with_cpu(name: str, info: str) -> Stranger:
    lines = "\\n".join(line.replace(": ", "\\t: ") for line in ["processor: 0", *info.strip().splitlines()])
    return Stranger(
        name=name,
        namespaces=("--mount",),
        prepare=f'printf \'{lines}\\n\\n\' > "$HOME/cpuinfo" && mount --bind "$HOME/cpuinfo" /proc/cpuinfo',
        proof='cmp -s "$HOME/cpuinfo" /proc/cpuinfo',
    )


STRANGERS = (
    Stranger(
        name="root, tracefs mounted",
        namespaces=("--mount",),
        prepare="[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing",
        proof='[ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/events ]',
    ),
    Stranger(
        name="root of a container: no tracefs",
        namespaces=("--mount",),
        prepare="for one in tracing debug; do ! mountpoint -q /sys/kernel/$one || umount -l /sys/kernel/$one; done",
        wrapper=("setpriv", "--bounding-set=-sys_admin,-perfmon,-bpf,-sys_ptrace"),
        proof='[ "$(id -u)" = 0 ] && ! mount -t tracefs nodev /sys/kernel/tracing 2> /dev/null',
    ),
    Stranger(
        name="not root",
        namespaces=("--mount",) if IS_ROOT else (),
        prepare=_seen_by_all() if IS_ROOT else ":",
        wrapper=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if IS_ROOT else (),
        proof='[ "$(id -u)" != 0 ] && [ -w "$HOME" ]',
    ),
    Stranger(
        name="signals ignored",
        prepare="trap '' INT TERM HUP PIPE",
        proof="sh -c 'kill -TERM $$; kill -INT $$; kill -HUP $$; kill -PIPE $$'",
    ),
    Stranger(
        name="no terminal",
        wrapper=("setsid", "--wait"),
        proof="! true 2> /dev/null < /dev/tty",
    ),
    Stranger(
        name="another locale and time zone",
        proof='[ "$(date +%z)" = +1345 ]',
        environment={"LC_ALL": "C", "LANG": "C", "LANGUAGE": "de", "TZ": "STRANGE-13:45"},
    ),
    _with_cpu("an unknown Intel", INTEL),
    _with_cpu("an unknown AMD, not virtual", AMD),
    _with_cpu("an arm64 model", ARM),
    Stranger(
        name="no network",
        namespaces=("--net",),
        prepare="ip link set lo up 2> /dev/null || :",
        proof="! grep -qv Iface /proc/net/route",
    ),
    Stranger(
        name="no tracer installed",
        namespaces=("--mount",),
        prepare=f'for one in {TRACERS}; do at=$(command -v $one) && mount --bind /dev/null "$at"; done || :',
        proof=f'[ -z "$(for one in {TRACERS}; do command -v $one; done)" ]',
    ),
    Stranger(
        name="a read-only checkout",
        namespaces=("--mount",),
        prepare='mount --bind . . && mount -o remount,bind,ro . && cd "$PWD"',
        proof="! touch new 2> /dev/null",
    ),
)
