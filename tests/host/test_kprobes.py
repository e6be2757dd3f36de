"""kernel.py reads the kernel's list of kprobes: how those that are live fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probe_effect.host.kernel import KPROBE_LIST, mechanism

if TYPE_CHECKING:
    from pathlib import Path

# Debian's 6.1.0-50-amd64 and 6.12.107+deb13-amd64, with kprobe_events on offsets of vfs_read.
KPROBE = "ffffffff81363790  k  vfs_read+0x0    [FTRACE]\n"
AFTER_ENDBR = "ffffffff81441d44  k  vfs_read+0x4    [FTRACE]\n"
KRETPROBE = "ffffffff81441d44  r  vfs_read+0x4    [FTRACE]\n"
OPTIMISED = "ffffffff81363795  k  vfs_read+0x5    [OPTIMIZED]\n"
NOT_OPTIMISED = "ffffffff81363799  k  vfs_read+0x9    \n"
DISABLED = "ffffffff8136379b  k  vfs_read+0xb    [DISABLED]\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(KPROBE, "ftrace", id="entry of a function"),
        pytest.param(AFTER_ENDBR, "ftrace", id="entry of a function that begins with endbr"),
        pytest.param(KRETPROBE, "ftrace", id="return of a function"),
        pytest.param(OPTIMISED, "jump", id="inside a function"),
        pytest.param(NOT_OPTIMISED, "trap", id="inside a function, kprobes-optimization off"),
        pytest.param(KPROBE + KPROBE, "ftrace", id="several of one kind"),
        pytest.param(NOT_OPTIMISED + OPTIMISED + KPROBE, "ftrace + jump + trap", id="several kinds, in a fixed order"),
        pytest.param(DISABLED + OPTIMISED, "jump", id="a disabled one beside a live one"),
        pytest.param(DISABLED, None, id="only a disabled one"),
        pytest.param("", None, id="none: also with multi-kprobes, fentry and tracers of functions"),
    ],
)
def test_the_mechanism_of_live_kprobes_is_read_from_the_kernels_list(
    text: str, found: str | None, tmp_path: Path
) -> None:
    (tmp_path / KPROBE_LIST).parent.mkdir(parents=True)
    (tmp_path / KPROBE_LIST).write_text(text, encoding="utf-8")
    assert mechanism(tmp_path) == found


def test_without_debugfs_the_mechanism_is_not_known(tmp_path: Path) -> None:
    assert mechanism(tmp_path) is None
