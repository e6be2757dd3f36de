"""The words of an answer: one set for the terminal, for pages, and for the script of the page that answers."""

from __future__ import annotations

from probe_effect.stats.signed_rank import MIN_BLOCKS

WORDS = {
    "slows": "At {rate}, {what} with {tool} slows {whom} by {slowdown} on {where}.",
    "unclear": "At {rate}, the cost of {what} with {tool} is not distinguishable from 0 on {where}: it slows {whom} by "
    "at most {most}.",
    "unknown": "At {rate}, {what} with {tool} showed no slowdown of {whom} on {where}, in too few blocks to say more.",
    "alike": "At {rate}, {what} with {tool} slows {whom} by {slowdown} on the {count} machines of that kind that were "
    "measured ({kind}), from the lowest end of their intervals to the highest.",
    "alike-range": "{least} to {greatest}",
    "alike-most": "at most {greatest}",
    "one": "a busy thread",
    "each": "each of {threads} busy threads",
    "one-waiting": "a thread that is busy {busy} of its time",
    "each-waiting": "each of {threads} threads that are busy {busy} of their time",
    "running": "{slowdown} while running",
    "with": " together with ",
    "whole": "{rate} in all ({parts})",
    "of-whole": "{rate} of {part}",
    "no-delay": "none: idle time pays",
    "threshold": "at {rate}",
    "no-threshold": "at no measurable rate",
    "band": "{worst}: {recommendation}.",
    "bands": "at best {best}, at worst {worst}: {recommendation}.",
    "no-loss": "none expected",
    "some-loss": "{loss} of the events",
    "unknown-loss": "not known: none was lost at the rate that was measured, which is lower",
    "uncounted-loss": "not known: nobody counted them",
    "no-interval": f"The cost has no interval: that takes {MIN_BLOCKS} blocks.",
    "single": "One thread fires the probe: threads that fire it at once may contend, and then pay more.",
    "apart": "The {threads} threads do not contend: nobody measured {what} with several threads on this machine.",
    "contend": "With {level} threads that fire it at once, an event of {what} costs {factor} what it costs with "
    "one, as measured on this machine.",
    "nearest": "Of the numbers of threads that were measured, {level} stands for {threads}.",
    "waits": "A thread that waits pays from its idle time first, so its work takes longer only when that is used up.",
    "counted": "The rate was counted without the tracer.",
    "hot": "Caches are hot, as in the measured loop: a probe that fires rarely finds them cold and costs more.",
    "stacks": "The stack of the measured loop has few frames and is always the same: a deeper one, or many different "
    "ones, cost more.",
    "calls": "While {what} is attached, every system call of the program pays {path}, traced or not; the cost of an "
    "event holds that {calls} times.",
    "programs": "Real programs differ from the measured loops: in {count} pairs of a program and a probe, four in five "
    "slowed by {low} to {high} the predicted slowdown. The interval of the slowdown includes this spread.",
    "within": "{what} was measured at up to {highest} while traced.",
    "beyond": "{what} was measured at up to {highest} while traced; higher rates are extrapolated.",
    "line": "Rate × cost was checked from {lowest} to {highest}: it agrees with the slowdown measured at {holding} of "
    "{count} rates.",
    "no-line": "Rate × cost was not checked at other rates on this machine.",
    "departs": "Measured at {rate}: {measured}, where rate × cost is {predicted}.",
    "add": "The costs of several probes add.",
    "composed": "Nobody measured {what}: its cost is composed, {sum}.",
    "is-measured": "{what}",
    "is-composed": "{what} (composed)",
    "is-estimated": "{what} (estimated)",
    "is-published": "{what} (published†)",
    "is-derived": "{what} (derived‡)",
    "first-emulated": "emulated (nop, jump, call; push on x86-64)",
    "first-stepped": "stepped (any other)",
    "first-called": "called (nop of five bytes on x86-64)",
    "first-unknown": "not known",
    "published": "The cost of {what} is what others printed, {label}: {figure}. It has no interval, and neither their "
    "machine nor their method was ours: take it as an order of magnitude.",
    "derived": "The cost of {what} is not printed: it is derived from what {label} printed: {figure}. It has no "
    "interval, and neither their machine nor their method was ours: take it as an order of magnitude.",
    "published-where": "{hardware}† ({label})",
    "published-grade": "none: printed by others",
    "estimated": "No time of {what} was measured on this machine: it is estimated from {instructions} instructions, "
    "which {case} adds with {tool} on Linux {kernel}, at {each}{exceptions}.",
    "exceptions": ", {breakpoints} for a breakpoint and {steps} for a single step",
    "estimated-ratio": "The estimate was checked on {count} cases that have a count and a time, each kind of probe "
    "left out in turn: at least 95{gap}% of the times were {low} to {high} the estimate. The interval includes this "
    "spread.",
    "estimated-wide": "That is wider than a factor of two, so take the interval and not the value.",
    "checked": "Where such combinations were measured on this machine, they cost {median} what was predicted "
    "({least} to {greatest}), and {holding} of {count} agree within the intervals.",
    "unchecked": "That was not checked on this machine.",
    "way": "{what} with {tool}",
    "way-figures": "{slowdown}; {cost} an event.",
    "way-tracer": "The same probe with another tracer, which may do less with an event.",
    "way-run": "Measured in another run.",
    "way-loss": "At this rate it loses {loss}.",
    "more-ways": "{count} more",
    "greatest": "The figures below are those of {machine}, the greatest of them.",
    "chart": "Slowdown by rate of events, both on logarithmic scales. The point: {slowdown} at {rate}.",
    "no-way": "Nothing was measured on this machine that tells as much and costs less.",
}
"""Sentences and their parts, by key, with named places."""
