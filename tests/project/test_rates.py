"""The bench of counted rates runs, small."""

from __future__ import annotations

import shutil

import pytest

from evidence import rates
from helpers.live_programs import needs_bpf


@needs_bpf
@pytest.mark.deep
def test_the_bench_prints_a_line_for_each_program_with_its_truth_and_what_perf_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rates, "PACES_HZ", {"getppid": (1_000,), "push": (1_000,)})
    monkeypatch.setattr(rates, "PATTERNS", ("steady", "forking"))
    rates.main(seconds=0.2, runs=1)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == [
        f"| {call}, {pattern}" for call in ("getppid", "push") for pattern in ("steady", "forking")
    ]
    if shutil.which("perf"):
        assert not any(line.endswith("| - |") for line in lines)
