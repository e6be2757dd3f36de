"""What the kernel's BPF `bench` prints, whole or cut by its scripts."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import PROJECT
from import_builders import figures_by_id, is_read_or_refused, source_of
from probe_effect.errors import UsageError
from probe_effect.importers.files import GivenFile, read_given
from probe_effect.importers.kernel_bench import read_kernel_bench

RECORDED = PROJECT / "tests" / "data" / "import"
KERNEL_COUNT = "Benchmark 'trig-kernel-count' started.\nSummary: hits  120.000 ± 0.100M/s (120.000M/prod), drops 0\n"


def printed(text: str) -> GivenFile:
    return GivenFile("bench.log", text)


def test_the_summary_line_of_a_whole_run_is_read_with_its_name() -> None:
    [one] = read_kernel_bench([read_given(RECORDED / "kernel-bench.txt")]).series
    assert one.name == "kprobe-multi"
    assert (one.probe, one.tracer, one.action) == ("kprobe-multi", "libbpf", "none")
    assert [(reading.printed, reading.value) for reading in one.readings] == [
        ("8.538 ± 0.005M/s", Decimal(8538000)),
        ("8.538M/prod", Decimal(8538000)),
    ]


def test_lines_as_the_scripts_cut_them_are_read() -> None:
    extracted = read_kernel_bench([read_given(RECORDED / "run-bench-uprobes.txt")])
    assert [one.name for one in extracted.series][:3] == ["usermode-count", "syscall-count", "uprobe-nop"]
    assert [one.probe for one in extracted.series][:3] == [None, None, "uprobe"]
    assert extracted.missing[-1] == "of some lines, the number of producer threads; their times assume one"


def test_the_cost_is_that_of_the_published_source_of_the_same_rates() -> None:
    source = source_of(read_kernel_bench([read_given(RECORDED / "run-bench-uprobes.txt")]), "usermode-count")
    figures = figures_by_id(source)
    assert figures["cost_uprobe_nop"].value == pytest.approx(Decimal("309.9"), abs=Decimal("0.1"))
    assert figures["cost_uprobe_nop"].baseline_ns == Decimal("6.55733")
    assert "cost_syscall_count" not in figures


def test_the_time_is_that_of_one_producer_thread() -> None:
    run = "Benchmark 'trig-fentry' started.\nSummary: hits   80.000 ± 0.100M/s ( 20.000M/prod), drops 0.000\n"
    figures = figures_by_id(source_of(read_kernel_bench([printed(KERNEL_COUNT + run)]), "kernel-count"))
    assert figures["time_fentry"].value == 50
    assert figures["cost_fentry"].value == pytest.approx(Decimal("41.67"))


def test_names_of_probes_are_ours() -> None:
    text = "tp : 1.0 ± 0.1M/s\nrawtp : 1.0 +/- 0.1M/s\nfmodret : 1.0 ± 0.1M/s\nuretprobe-nop5 : 1.0 ± 0.1M/s"
    probes = [one.probe for one in read_kernel_bench([printed(text)]).series]
    assert probes == ["tracepoint", "raw-tracepoint", "fmod-ret", "uretprobe"]


def test_a_program_that_never_ran_gives_no_cost() -> None:
    text = (
        KERNEL_COUNT + "Benchmark 'trig-kprobe' started.\nSummary: hits    0.000 ± 0.000M/s (  0.000M/prod), drops 0\n"
    )
    source = source_of(read_kernel_bench([printed(text)]), "kernel-count")
    assert not [figure for figure in source.figures if figure.figure.startswith("cost")]
    assert figures_by_id(source)["rate_kprobe"].note == "No cost is drawn from it: it had no hits."


def test_one_untraced_side_for_both_kinds_of_probes_is_remarked() -> None:
    text = "kernel-count : 9.0 ± 0.1M/s\nkprobe : 1.0 ± 0.1M/s\nuprobe-nop : 1.0 ± 0.1M/s"
    [remark] = read_kernel_bench([printed(text)]).remarks
    assert "user code" in remark


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "no such line", id="nothing"),
        pytest.param("Summary: hits 1.000 ± 0.100M/s (1.000M/prod), drops 0", "Summary without a name", id="no name"),
        pytest.param("Benchmark 'x' started.\nSummary: throughput 1.0 ± 0.1 M ops/s", "no such line", id="another"),
        pytest.param("kprobe : 1.0 ± 0.1M/s\nkprobe : 1.1 ± 0.1M/s", "`kprobe` stands twice", id="twice"),
        pytest.param("kprobe : 1.0.0 ± 0.1M/s", "bench.log:1: `1.0.0`", id="no number"),
        pytest.param("kprobe : 99999999999999 ± 0.1M/s", "at most 1e+15 hz", id="huge"),
        pytest.param("kprobe : 0.000 ± 0.000M/s", "no time above 0", id="no hits at all"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        source_of(read_kernel_bench([printed(text)]))
    assert says in str(caught.value)
    assert "Expected " in str(caught.value)


NAMES = st.from_regex(r"\A(trig-)?[a-z0-9_-]{1,30}\Z")
NUMBERS = st.from_regex(r"\A[0-9.]{1,12}\Z") | st.floats(0, 1e12).map(lambda value: f"{value:.3f}")


@settings(max_examples=300)
@given(st.lists(st.tuples(NAMES, NUMBERS, NUMBERS, st.booleans()), max_size=6), st.text(max_size=40))
def test_any_text_is_read_or_refused(lines: list[tuple[str, str, str, bool]], rest: str) -> None:
    whole = "Benchmark '{0}' started.\nSummary: hits {1} ± {2}M/s ({1}M/prod), drops 0.000 ± 0.000M/s"
    text = "\n".join((whole if long else "{0} : {1} ± {2}M/s").format(*cells) for *cells, long in lines)

    def read() -> None:
        extracted = read_kernel_bench([printed(f"{rest}\n{text}")])
        source_of(extracted, baseline=extracted.series[0].name)

    assert is_read_or_refused(read)
