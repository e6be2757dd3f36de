"""The published figures of sources that were read as files or known from excerpts.

The lists below were typed by hand: SURVEYED from the notes that collected these sources, PRINTED from the text of
the pages themselves where that text was at hand.
"""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest

PUBLISHED = Path(__file__).parents[1] / "data" / "published"

FILES = ["cloudflare-ebpf-exporter-2018", "bpftime-2025", "bpftime-2026", "kernel-doc-kprobes"]
EXCERPTS = [
    "beyla-2425", "beyla-61", "bpftime-arxiv-era", "bpftime-ci-2026-01", "chaignon-2019-strace",
    "cloudflare-ebpf-exporter-2023", "cohen-2006-systemtap", "desnoyers-2011-lttng-ust", "gitlab-1383-uprobe-rule",
    "gregg-2014-strace", "gregg-bpf-malloc-uprobe", "kernel-kconfig-tracepoint-benchmark", "kernelradar-ringbuf",
    "kutrace", "liao-2024-arm64-uprobes", "libbpf-rs-981", "libdatadog-usdt-semaphore", "linuxppc-118", "magic-trace",
    "nakryiko-2020-bpf-bench", "nakryiko-2024-multi-uprobe", "nakryiko-2024-uprobe-rcu", "nesterov-2013-uprobes",
    "olsa-2024-uretprobe-syscall", "olsa-2025-nop5-uprobes", "olsa-bcc-opensnoop", "ros2-tracing-2022",
    "teknoraver-2020-strace", "tunnelix-strace",
]  # fmt: skip

# Per-event figures: source, figure, its number as surveyed, unit. A bench throughput is surveyed as the time per hit.
SURVEYED_COSTS: list[tuple[str, str, float, str]] = [
    ("cloudflare-ebpf-exporter-2018", "ns_none", 316, "ns"),
    ("cloudflare-ebpf-exporter-2018", "overhead_simple", 108, "ns"),
    ("cloudflare-ebpf-exporter-2018", "overhead_complex", 331, "ns"),
    ("cloudflare-ebpf-exporter-2023", "ns_none", 117, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_tracepoint_empty", 15, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_tracepoint_simple", 35, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_tracepoint_complex", 96, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_fentry_empty", 24, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_fentry_simple", 42, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_fentry_complex", 103, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_kprobe_empty", 137, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_kprobe_simple", 160, "ns"),
    ("cloudflare-ebpf-exporter-2023", "overhead_kprobe_complex", 229, "ns"),
    ("nakryiko-2020-bpf-bench", "cost_tp", 41, "ns"),
    ("nakryiko-2020-bpf-bench", "cost_rawtp", 8, "ns"),
    ("nakryiko-2020-bpf-bench", "cost_kprobe", 47, "ns"),
    ("nakryiko-2020-bpf-bench", "cost_fentry", 3, "ns"),
    ("nakryiko-2020-bpf-bench", "cost_fmodret", 4, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_usermode_count", 7, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_uprobe_nop", 316, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_uprobe_push", 333, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_uprobe_ret", 909, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_uprobe_nop5", 319, "ns"),
    ("olsa-2025-nop5-uprobes", "time_after_uprobe_nop5", 137, "ns"),
    ("olsa-2025-nop5-uprobes", "time_before_uretprobe_nop", 475, "ns"),
    ("olsa-2024-uretprobe-syscall", "time_before_nop", 668, "ns"),
    ("olsa-2024-uretprobe-syscall", "time_after_nop", 508, "ns"),
    ("liao-2024-arm64-uprobes", "time_xol_uprobe_nop", 1092, "ns"),
    ("liao-2024-arm64-uprobes", "time_emulation_uprobe_nop", 537, "ns"),
    ("liao-2024-arm64-uprobes", "time_xol_uretprobe_nop", 1563, "ns"),
    ("liao-2024-arm64-uprobes", "time_emulation_uretprobe_nop", 1037, "ns"),
    ("nakryiko-2024-multi-uprobe", "time_uprobe_nop", 980, "ns"),
    ("nakryiko-2024-multi-uprobe", "time_uretprobe_nop", 1942, "ns"),
    ("nakryiko-2024-uprobe-rcu", "time_baseline_1", 330, "ns"),
    ("nakryiko-2024-uprobe-rcu", "time_baseline_64", 20_000, "ns"),
    ("bpftime-2025", "avg_kernel_uprobe", 2562, "ns"),
    ("bpftime-2025", "avg_kernel_uretprobe", 3019, "ns"),
    ("bpftime-2025", "avg_kernel_uprobe_uretprobe", 3119, "ns"),
    ("bpftime-2025", "avg_userspace_uprobe", 190, "ns"),
    ("bpftime-2025", "avg_userspace_uretprobe", 187, "ns"),
    ("bpftime-2025", "avg_userspace_uprobe_uretprobe", 192, "ns"),
    ("bpftime-2025", "syscall_native_mean", 404, "ns"),
    ("bpftime-2025", "cost_kernel_tracepoint", 34, "ns"),
    ("bpftime-2026", "baseline_x86", 5, "ns"),
    ("bpftime-2026", "s1_kernel_uprobe", 5129, "ns"),
    ("bpftime-2026", "s1_kernel_uretprobe", 6266, "ns"),
    ("bpftime-2026", "s1_kernel_both", 9451, "ns"),
    ("bpftime-2026", "s2_avg_both", 6597, "ns"),
    ("bpftime-ci-2026-01", "time_uprobe", 2269, "ns"),
    ("bpftime-ci-2026-01", "time_uretprobe", 2979, "ns"),
    ("bpftime-ci-2026-01", "time_both", 3153, "ns"),
    ("bpftime-arxiv-era", "kernel_uprobe", 3224, "ns"),
    ("bpftime-arxiv-era", "kernel_uretprobe", 3997, "ns"),
    ("bpftime-arxiv-era", "kernel_syscall", 152, "ns"),
    ("desnoyers-2011-lttng-ust", "time_baseline_1", 33, "ns"),
    ("desnoyers-2011-lttng-ust", "time_ust_tc_1", 181, "ns"),
    ("desnoyers-2011-lttng-ust", "time_ust_tc_8", 197, "ns"),
    ("desnoyers-2011-lttng-ust", "time_stap_1", 5836, "ns"),
    ("desnoyers-2011-lttng-ust", "time_stap_2", 10_994, "ns"),
    ("desnoyers-2011-lttng-ust", "time_stap_4", 15_849, "ns"),
    ("desnoyers-2011-lttng-ust", "time_stap_8", 56_958, "ns"),
    ("cohen-2006-systemtap", "median_amd64_base", 217, "ns"),
    ("cohen-2006-systemtap", "median_em64t_base", 227, "ns"),
    # The medians of 715, 735, 733 and of 220, 217, 216 are 516 apart; the notes had 518, from the second runs alone.
    ("cohen-2006-systemtap", "cost_amd64", 516, "ns"),
    ("cohen-2006-systemtap", "cost_em64t", 1578, "ns"),
    ("kernel-doc-kprobes", "e5410_x86_64_k", 0.99, "us"),
    ("kernel-doc-kprobes", "e5410_x86_64_b", 0.43, "us"),
    ("kernel-doc-kprobes", "e5410_x86_64_o", 0.06, "us"),
    ("kernel-doc-kprobes", "e5410_x86_64_r", 1.24, "us"),
    ("kernel-doc-kprobes", "e5410_x86_64_rb", 0.68, "us"),
    ("kernel-doc-kprobes", "e5410_x86_64_ro", 0.30, "us"),
    ("kernel-doc-kprobes", "opteron_k", 0.49, "us"),
    ("kernel-doc-kprobes", "opteron_r", 0.80, "us"),
    ("kernel-doc-kprobes", "power5_k", 0.77, "us"),
    ("kernel-doc-kprobes", "power5_r", 1.26, "us"),
    ("kernel-kconfig-tracepoint-benchmark", "avg_5", 288, "ns"),  # "about 290" in the notes
    ("kernel-kconfig-tracepoint-benchmark", "cold_first", 3672, "ns"),
    ("kutrace", "cost_talk", 12.5, "ns"),
    ("gregg-2014-strace", "baseline", 101, "ns"),
    ("gregg-2014-strace", "cost", 44_800, "ns"),
    ("gregg-2014-strace", "slowdown", 442, "ratio"),
    ("tunnelix-strace", "baseline", 312, "ns"),
    ("tunnelix-strace", "cost", 13_500, "ns"),
    ("tunnelix-strace", "slowdown_recomputed", 44, "ratio"),
    ("libdatadog-usdt-semaphore", "cost_arm64", 2.8, "ns"),
    ("libdatadog-usdt-semaphore", "cost_x86_64", 10.4, "ns"),
]

# Figures of whole workloads, in the same form.
SURVEYED_WORKLOADS: list[tuple[str, str, float, str]] = [
    ("olsa-bcc-opensnoop", "cycles_percent_kprobe", 10.8, "percent"),
    ("olsa-bcc-opensnoop", "cycles_percent_fentry", 7.5, "percent"),
    ("olsa-bcc-opensnoop", "elapsed_percent_kprobe", 1.3, "percent"),
    ("olsa-bcc-opensnoop", "elapsed_percent_fentry", 0.9, "percent"),
    ("chaignon-2019-strace", "percent_plain", 100, "percent"),
    ("chaignon-2019-strace", "percent_seccomp", 2.9, "percent"),
    ("teknoraver-2020-strace", "ratio_perf", 2.2, "ratio"),
    ("teknoraver-2020-strace", "ratio_strace", 10.2, "ratio"),
    ("gregg-bpf-malloc-uprobe", "perl_start", 4, "ratio"),
    ("gregg-bpf-malloc-uprobe", "mysql_throughput", 33, "percent"),
    ("nesterov-2013-uprobes", "cost_before", 16.7, "us"),
    ("nesterov-2013-uprobes", "calls", 100_000, "count"),
    ("libbpf-rs-981", "uprobes", 252, "count"),
    ("libbpf-rs-981", "hits", 90, "count"),
    ("libbpf-rs-981", "duration", 540, "s"),
    ("libbpf-rs-981", "rate_without", 12_000, "hz"),
    ("libbpf-rs-981", "rate_pid", 4_000, "hz"),
    ("beyla-2425", "share", 43, "percent"),
    ("beyla-2425", "cpu_beyla", 4, "count"),
    ("beyla-2425", "docs_request", 500, "ns"),
    ("beyla-61", "rate", 10_000, "hz"),
    ("beyla-61", "cpu_1", 20, "percent"),
    ("beyla-61", "cpu_2", 13, "percent"),
    ("beyla-61", "cpu_3", 7, "percent"),
    ("kernelradar-ringbuf", "rate_headline", 321_000, "hz"),
    ("kernelradar-ringbuf", "consumer_headline", 25_000, "hz"),
    ("kernelradar-ringbuf", "drop_share", 92, "percent"),
    ("linuxppc-118", "claim_system", 2, "percent"),
    ("linuxppc-118", "claim_task", 10, "percent"),
    ("magic-trace", "overhead_low", 2, "percent"),
    ("magic-trace", "overhead_high", 10, "percent"),
    ("magic-trace", "stall", 10, "us"),
    ("gitlab-1383-uprobe-rule", "rate_thread", 10_000, "hz"),
    ("ros2-tracing-2022", "latency_mean", 0.0033, "ms"),
]

# Read in the pages' own text: source, figure, printed, value, unit.
PRINTED: list[tuple[str, str, str, str, str]] = [
    ("cloudflare-ebpf-exporter-2018", "ns_none", "316 ns/op", "316", "ns"),
    ("cloudflare-ebpf-exporter-2018", "ns_simple", "424 ns/op", "424", "ns"),
    ("cloudflare-ebpf-exporter-2018", "ns_complex", "647 ns/op", "647", "ns"),
    ("cloudflare-ebpf-exporter-2018", "iterations_none", "5000000", "5000000", "count"),
    ("cloudflare-ebpf-exporter-2018", "iterations_simple", "3000000", "3000000", "count"),
    ("cloudflare-ebpf-exporter-2018", "iterations_complex", "2000000", "2000000", "count"),
    ("cloudflare-ebpf-exporter-2018", "total_time", "7.328s", "7.328", "s"),
    ("cloudflare-ebpf-exporter-2018", "overhead_simple", "108", "108", "ns"),
    ("cloudflare-ebpf-exporter-2018", "overhead_complex", "331", "331", "ns"),
    ("cloudflare-ebpf-exporter-2018", "rate_none", "3,164,556", "3164556", "hz"),
    ("cloudflare-ebpf-exporter-2018", "rate_simple", "2,358,490", "2358490", "hz"),
    ("cloudflare-ebpf-exporter-2018", "rate_complex", "1,545,595", "1545595", "hz"),
    ("cloudflare-ebpf-exporter-2018", "percent_simple", "34%", "34", "percent"),
    ("cloudflare-ebpf-exporter-2018", "percent_complex", "105%", "105", "percent"),
    ("cloudflare-ebpf-exporter-2018", "histogram_256", "703", "703", "count"),
    ("cloudflare-ebpf-exporter-2023", "raw_none", "117.3 ns/op", "117.3", "ns"),
    ("cloudflare-ebpf-exporter-2023", "raw_tracepoint_simple", "152.2 ns/op", "152.2", "ns"),
    ("cloudflare-ebpf-exporter-2023", "raw_fentry_complex", "220.7 ns/op", "220.7", "ns"),
    ("cloudflare-ebpf-exporter-2023", "raw_kprobe_empty", "253.8 ns/op", "253.8", "ns"),
    ("cloudflare-ebpf-exporter-2023", "ns_fentry_complex", "220", "220", "ns"),
    ("cloudflare-ebpf-exporter-2023", "percent_kprobe_simple", "136%", "136", "percent"),
    ("cloudflare-ebpf-exporter-2023", "percent_kprobe_complex", "196%", "196", "percent"),
    ("cloudflare-ebpf-exporter-2023", "uprobe_none_cgo", "26.65 ns/op", "26.65", "ns"),
    ("cloudflare-ebpf-exporter-2023", "uprobe_empty", "1695.00 ns/op", "1695.00", "ns"),
    ("cloudflare-ebpf-exporter-2023", "claim_uprobe", "~1670ns", "1670", "ns"),
    ("nakryiko-2020-bpf-bench", "rate_base", "9.200 ± 0.319M/s", "9200000", "hz"),
    ("nakryiko-2020-bpf-bench", "rate_tp", "6.690 ± 0.125M/s", "6690000", "hz"),
    ("nakryiko-2020-bpf-bench", "rate_rawtp", "8.571 ± 0.214M/s", "8571000", "hz"),
    ("nakryiko-2020-bpf-bench", "rate_kprobe", "6.431 ± 0.048M/s", "6431000", "hz"),
    ("nakryiko-2020-bpf-bench", "rate_fmodret", "8.903 ± 0.135M/s", "8903000", "hz"),
    ("nakryiko-2020-bpf-bench", "fentry_share", "97.3%", "97.3", "percent"),
    ("olsa-2025-nop5-uprobes", "rate_before_usermode_count", "152.501 ± 0.012M/s", "152501000", "hz"),
    ("olsa-2025-nop5-uprobes", "rate_before_uprobe_nop", "3.160 ± 0.005M/s", "3160000", "hz"),
    ("olsa-2025-nop5-uprobes", "rate_before_uprobe_ret", "1.100 ± 0.003M/s", "1100000", "hz"),
    ("olsa-2025-nop5-uprobes", "rate_before_uretprobe_nop5", "2.115 ± 0.002M/s", "2115000", "hz"),
    ("olsa-2025-nop5-uprobes", "rate_after_uprobe_nop5", "7.286 ± 0.017M/s", "7286000", "hz"),
    ("olsa-2024-uretprobe-syscall", "rate_before_nop", "1.498 ± 0.000M/s", "1498000", "hz"),
    ("olsa-2024-uretprobe-syscall", "rate_after_push", "1.910 ± 0.000M/s", "1910000", "hz"),
    ("olsa-2024-uretprobe-syscall", "speedup_push", "31% speed up", "31", "percent"),
    ("liao-2024-arm64-uprobes", "rate_xol_uprobe_nop", "0.916 ± 0.001M/s", "916000", "hz"),
    ("liao-2024-arm64-uprobes", "rate_emulation_uprobe_push", "1.743 ± 0.006M/s", "1743000", "hz"),
    ("liao-2024-arm64-uprobes", "rate_emulation_uretprobe_ret", "0.940 ± 0.001M/s", "940000", "hz"),
    ("nakryiko-2024-multi-uprobe", "rate_uprobe_nop", "1.020 ± 0.005M/s", "1020000", "hz"),
    ("nakryiko-2024-multi-uprobe", "rate_uretprobe_nop", "0.515 ± 0.009M/s", "515000", "hz"),
    ("nakryiko-2024-uprobe-rcu", "total_srcu_1", "3.276 ± 0.005M/s", "3276000", "hz"),
    ("nakryiko-2024-uprobe-rcu", "total_srcu_64", "6.452 ± 0.000M/s", "6452000", "hz"),
    ("nakryiko-2024-uprobe-rcu", "per_cpu_srcu_16", "0.406M/s/cpu", "406000", "hz"),
    ("bpftime-2025", "avg_kernel_uprobe", "2561.57", "2561.57", "ns"),
    ("bpftime-2025", "min_kernel_uprobe", "2130.54", "2130.54", "ns"),
    ("bpftime-2025", "max_kernel_uprobe", "4389.26", "4389.26", "ns"),
    ("bpftime-2025", "avg_userspace_uretprobe", "187.10", "187.10", "ns"),
    ("bpftime-2025", "max_kernel_hash_map_update", "61331.16", "61331.16", "ns"),
    ("bpftime-2025", "avg_userspace_per_cpu_hash_map_delete", "65603.07", "65603.07", "ns"),
    ("bpftime-2025", "min_userspace_write", "1406.01", "1406.01", "ns"),
    ("bpftime-2025", "speedup_uprobe", "13.48x", "13.48", "ratio"),
    ("bpftime-2025", "embed_avg", "106.30", "106.30", "ns"),
    ("bpftime-2025", "total_duration", "559.80 seconds", "559.80", "s"),
    ("bpftime-2025", "syscall_native_mean", "404.44 ns", "404.44", "ns"),
    ("bpftime-2025", "syscall_kernel_mean", "438.92 ns", "438.92", "ns"),
    ("bpftime-2025", "syscall_userspace_max", "509.91 ns", "509.91", "ns"),
    ("bpftime-2025", "syscall_kernel_run_9", "455.27", "455.27", "ns"),
    ("bpftime-2025", "percent_kernel", "8.52%", "8.52", "percent"),
    ("bpftime-2025", "percent_userspace_over_kernel", "10.42%", "10.42", "percent"),
    ("bpftime-2026", "s1_kernel_uprobe", "5129", "5129", "ns"),
    ("bpftime-2026", "s1_kernel_uprobe_run_1", "5109", "5109", "ns"),
    ("bpftime-2026", "s1_kernel_uprobe_run_2", "5145", "5145", "ns"),
    ("bpftime-2026", "s1_kernel_uprobe_run_3", "5134", "5134", "ns"),
    ("bpftime-2026", "s1_user_both", "523", "523", "ns"),
    ("bpftime-2026", "s1_speedup_both", "18.1x", "18.1", "ratio"),
    ("bpftime-2026", "s2_both_run_3", "7156", "7156", "ns"),
    ("bpftime-2026", "s2_avg_uretprobe", "5974", "5974", "ns"),
    ("bpftime-2026", "s3_avg_uprobe", "5603", "5603", "ns"),
    ("bpftime-2026", "s3_uretprobe_run_4", "8485", "8485", "ns"),
    ("bpftime-2026", "baseline_riscv", "~3.5 ns", "3.5", "ns"),
    ("bpftime-2026", "ratio_riscv_uretprobe", "1.41x", "1.41", "ratio"),
    ("bpftime-2026", "qemu_overhead_uprobe", "6119", "6119", "ns"),
    ("bpftime-2026", "qemu_thread_3", "14023", "14023", "ns"),
    ("bpftime-arxiv-era", "kernel_uprobe", "3224.172760", "3224.172760", "ns"),
    ("bpftime-arxiv-era", "user_syscall", "232.57691", "232.57691", "ns"),
    ("desnoyers-2011-lttng-ust", "cpu_baseline_8", "0:0.33", "0.33", "s"),
    ("desnoyers-2011-lttng-ust", "cpu_ust_tc_1", "0:01.81", "1.81", "s"),
    ("desnoyers-2011-lttng-ust", "cpu_ust_notc_1", "0:02.25", "2.25", "s"),
    ("desnoyers-2011-lttng-ust", "claim_faster_lttng_kernel", "289", "289", "ratio"),
    ("cohen-2006-systemtap", "amd64_stap_2", "735", "735", "ns"),
    ("cohen-2006-systemtap", "em64t_base_2", "277", "277", "ns"),
    ("cohen-2006-systemtap", "em64t_stapt_1", "1863", "1863", "ns"),
    ("kernel-doc-kprobes", "pentium_m_k", "0.57 usec", "0.57", "us"),
    ("kernel-doc-kprobes", "pentium_m_kr", "0.99", "0.99", "us"),
    ("kernel-doc-kprobes", "opteron_kr", "0.82", "0.82", "us"),
    ("kernel-doc-kprobes", "power5_kr", "1.45", "1.45", "us"),
    ("kernel-doc-kprobes", "power5_clock", "1656 MHz", "1.656", "GHz"),
    ("kernel-doc-kprobes", "opteron_bogomips", "3971.48", "3971.48", "count"),
    ("kernel-doc-kprobes", "e5410_i386_k", "0.80 usec", "0.80", "us"),
    ("kernel-doc-kprobes", "e5410_i386_o", "0.05", "0.05", "us"),
    ("kernel-doc-kprobes", "e5410_i386_rb", "0.61", "0.61", "us"),
    ("kernel-doc-kprobes", "e5410_i386_ro", "0.33", "0.33", "us"),
    ("kernel-doc-kprobes", "claim_return_low", "50-75%", "50", "percent"),
    ("kernel-doc-kprobes", "claim_optimized_low", "0.07", "0.07", "us"),
    ("kutrace", "event_rate", "200,000", "200000", "hz"),
    ("kutrace", "cpu_share", "1/4 of 1%", "0.25", "percent"),
    ("kutrace", "cpu_share_book", "under 0.5%", "0.5", "percent"),
    ("gregg-2014-strace", "time_untraced", "0.103851 s", "0.103851", "s"),
    ("gregg-2014-strace", "time_strace", "45.9599 s", "45.9599", "s"),
    ("tunnelix-strace", "time_untraced", "0.38371 s", "0.38371", "s"),
    ("tunnelix-strace", "time_strace", "16.9985 s", "16.9985", "s"),
    ("olsa-bcc-opensnoop", "cycles_kprobe", "941,615,199,769", "941615199769", "count"),
    ("olsa-bcc-opensnoop", "elapsed_base", "162.235646336 seconds", "162.235646336", "s"),
    ("chaignon-2019-strace", "real_plain", "24m54,473s", "1494.473", "s"),
    ("chaignon-2019-strace", "real_none", "12m27,010s", "747.010", "s"),
    ("teknoraver-2020-strace", "real_perf", "0m2,465s", "2.465", "s"),
    ("nesterov-2013-uprobes", "real_before", "0m1.714s", "1.714", "s"),
    ("nesterov-2013-uprobes", "real_after", "0m0.037s", "0.037", "s"),
    ("kernelradar-ringbuf", "drops", "92 161", "92161", "count"),
    ("kernelradar-ringbuf", "wall", "0.311 sec", "0.311", "s"),
    ("linuxppc-118", "none_1", "1826686", "1826686", "count"),
    ("linuxppc-118", "task_4", "1634620", "1634620", "count"),
]

# Counted by hand: printed rows, derived rows. Only files that were read whole can be counted against their text.
COUNTS = {
    # 3 benchmark lines x 2, the total; 3 table lines x 3; 6 filled histogram lines.
    "cloudflare-ebpf-exporter-2018": (3 * 2 + 1 + 3 * 3 + 6, 0),
    # 34 table lines x 3 (the spread stands beside the mean), 3 speed-ups, 3 of the embedded machine, the duration;
    # system calls: 3 arms x 4, 3 arms x 10 runs, 3 per cents. Derived: 2 costs and their ratio.
    "bpftime-2025": (34 * 3 + 3 + 3 + 1 + 3 * 4 + 3 * 10 + 3, 3),
    # First harness: 6 cells, 18 runs, 3 speed-ups, a statement; 2 baselines; two tables of 15 runs and 3 means;
    # 3 ratios and a statement; emulation: a baseline, 3 times, 3 overheads, 4 threads.
    # Derived: 6 means and 6 medians, 12 costs.
    "bpftime-2026": (6 + 18 + 3 + 1 + 2 + 2 * 18 + 3 + 1 + 1 + 3 + 3 + 4, 6 + 6 + 12),
    # 3 machines x 3 times, 2 modes x 6 times, 5 clocks, 4 bogomips, 8 ends of ranges.
    # Derived: 5 return-over-entry shares, 3 both-over-return shares.
    "kernel-doc-kprobes": (9 + 12 + 5 + 4 + 8, 5 + 3),
}

Row = dict[str, str]
Table = dict[str, Row]


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    """Every source's rows by figure id."""
    read: dict[str, Table] = {}
    for source in FILES + EXCERPTS:
        with (PUBLISHED / source / "figures.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        read[source] = {row["figure"]: row for row in rows}
        assert len(read[source]) == len(rows), f"{source} uses a figure id twice"
    return read


@pytest.fixture(scope="module")
def descriptions() -> dict[str, dict[str, Any]]:
    """Every source's description."""
    return {
        source: tomllib.loads((PUBLISHED / source / "source.toml").read_text(encoding="utf-8"))
        for source in FILES + EXCERPTS
    }


def agrees(value: str, expected: float) -> bool:
    """Within one unit of a whole number, half a unit of the last digit typed, or half a per cent."""
    digits = len(str(expected).partition(".")[2]) if isinstance(expected, float) else 0
    return abs(float(value) - expected) <= max(0.51 * 10.0**-digits, 0.005 * expected)


@pytest.mark.parametrize(("source", "figure", "expected", "unit"), SURVEYED_COSTS)
def test_every_surveyed_cost_is_present(
    tables: dict[str, Table], source: str, figure: str, expected: float, unit: str
) -> None:
    row = tables[source][figure]
    assert row["unit"] == unit
    assert agrees(row["value"], expected)


@pytest.mark.parametrize(("source", "figure", "expected", "unit"), SURVEYED_WORKLOADS)
def test_every_surveyed_workload_figure_is_present(
    tables: dict[str, Table], source: str, figure: str, expected: float, unit: str
) -> None:
    row = tables[source][figure]
    assert row["unit"] == unit
    assert agrees(row["value"], expected)


@pytest.mark.parametrize("expected", PRINTED, ids=lambda expected: f"{expected[0]}-{expected[1]}")
def test_a_figure_stands_as_its_page_prints_it(
    tables: dict[str, Table], expected: tuple[str, str, str, str, str]
) -> None:
    source, figure, printed, value, unit = expected
    row = tables[source][figure]
    assert (row["printed"], row["value"], row["unit"]) == (printed, value, unit)


@pytest.mark.parametrize("source", COUNTS)
def test_a_file_read_whole_has_all_its_rows(tables: dict[str, Table], source: str) -> None:
    printed = sum(bool(row["printed"]) for row in tables[source].values())
    assert (printed, len(tables[source]) - printed) == COUNTS[source]


def test_no_surveyed_source_is_left_out() -> None:
    surveyed = {source for source, *_ in SURVEYED_COSTS + SURVEYED_WORKLOADS}
    assert surveyed == set(FILES + EXCERPTS)


@pytest.mark.parametrize("source", EXCERPTS)
def test_an_excerpt_says_that_it_is_one(
    tables: dict[str, Table], descriptions: dict[str, dict[str, Any]], source: str
) -> None:
    assert (descriptions[source]["read"], descriptions[source]["grade"]) == ("excerpt", "X")
    assert {row["grade"] for row in tables[source].values()} <= {"X", "XD"}


@pytest.mark.parametrize("source", FILES)
def test_a_repository_file_says_that_it_was_read_whole(
    tables: dict[str, Table], descriptions: dict[str, dict[str, Any]], source: str
) -> None:
    assert (descriptions[source]["read"], descriptions[source]["grade"]) == ("file", "F")
    assert {row["grade"] for row in tables[source].values()} <= {"F", "FD"}


def test_a_figure_worked_out_elsewhere_says_so(tables: dict[str, Table]) -> None:
    """A printed number with grade XD was derived from a quoted figure that we do not have."""
    for source, table in tables.items():
        for figure, row in table.items():
            if row["printed"] and row["grade"].endswith("D"):
                assert "worked out" in row["note"].lower(), f"{source} {figure}"


def test_a_derived_row_has_a_formula_and_no_printed_text(tables: dict[str, Table]) -> None:
    for source, table in tables.items():
        for figure, row in table.items():
            assert row["printed"] or row["formula"], f"{source} {figure}"


def test_a_cost_says_where_it_comes_from(tables: dict[str, Table]) -> None:
    for source, table in tables.items():
        for figure, row in table.items():
            if row["cost_ns"]:
                assert row["cost_from"] == ("printed" if row["printed"] else "derived"), f"{source} {figure}"


@pytest.mark.parametrize(
    ("source", "finding", "figures"),
    [
        ("bpftime-2026", "medians-are-means", ["s1_kernel_uprobe", "s1_kernel_uprobe_median"]),
        ("bpftime-2026", "two-harnesses-disagree", ["s1_kernel_both", "s2_avg_both"]),
        ("bpftime-2025", "more-overhead-is-a-ratio-of-whole-times", ["percent_userspace_over_kernel"]),
        ("cohen-2006-systemtap", "cycles-look-like-nanoseconds-amd64", ["claim_cycles_amd64", "timing_cycles_amd64"]),
        ("kernel-kconfig-tracepoint-benchmark", "running-mean-too-low", ["avg_6", "mean_6"]),
        ("kernelradar-ringbuf", "forty-times-against-its-own-rates", ["claim_faster", "faster"]),
        ("nesterov-2013-uprobes", "traced-faster-than-untraced", ["real_after", "real_none"]),
    ],
)
def test_a_contradiction_of_a_source_is_told_with_its_numbers(
    descriptions: dict[str, dict[str, Any]], source: str, finding: str, figures: list[str]
) -> None:
    sentence = next(entry["sentence"] for entry in descriptions[source]["findings"] if entry["id"] == finding)
    assert all(f"{{{figure}}}" in sentence for figure in figures)
