"""What people ask, as scripts, and a script as probes without a system."""

from __future__ import annotations

import pytest

from helpers.evidence_builder import part_of
from probe_effect.answer.question import QUESTIONS, groups, tool_script, tool_scripts, tracer_of
from probe_effect.costs.evidence import evidence_of
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.scripts.script import read_script

SCRIPTS = {title: script for group in QUESTIONS.values() for title, script in group.items()}


@pytest.mark.parametrize("title", SCRIPTS)
def test_every_question_is_a_script_whose_probes_were_measured_or_counted_somewhere(
    title: str, catalogue: Catalogue
) -> None:
    found = evidence_of(catalogue)
    script = tool_script(SCRIPTS[title], catalogue.tools) or read_script(SCRIPTS[title])
    tracer = tracer_of(found, script, None)
    for group in groups(script):
        assert any(part_of(found, machine, tracer, group) for machine in found.machines), group.attach


def test_a_sampler_has_its_own_rate_and_other_probes_have_none() -> None:
    script = read_script("BEGIN { } u:libc:malloc { @ = count() } p:hz:99 { @[ustack] = count() } k:f { @ = count() }")
    malloc, samples, kernel = groups(script)
    assert (malloc.rate_hz, malloc.matched) == (None, 1)
    assert (samples.rate_hz, kernel.rate_hz) == (99, None)


def test_a_wildcard_matches_an_unknown_number() -> None:
    assert groups(read_script("kprobe:vfs_* { @ = count() }"))[0].matched is None


@pytest.mark.parametrize("text", ["opensnoop-bpfcc -x", "sudo /usr/sbin/opensnoop-bpfcc", "opensnoop -x"])
def test_a_standard_tool_is_read_as_a_script_by_its_name(text: str, catalogue: Catalogue) -> None:
    script = tool_script(text, catalogue.tools)
    assert script is not None
    assert (script.text, script.tracer, script.language) == ("opensnoop-bpfcc", "bpftrace", "tool")
    assert script.probes


def test_a_tool_is_found_by_its_own_name_before_another_without_its_ending(catalogue: Catalogue) -> None:
    scripts = tool_scripts(catalogue.tools)
    assert scripts["opensnoop.bt"].text == "opensnoop.bt"
    assert tool_script("opensnooper", catalogue.tools) is None
