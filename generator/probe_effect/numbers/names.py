"""How cases, machines, tools and dates are called in prose, one name for each; and how a part of the site is cited."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.model import Metric
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import known_tool
from probe_effect.store.machine_file import KVM_GUEST, Machine, MachineFile, System, canonical_architecture, is_hosted
from probe_effect.store.suite_file import Case, Suite

VERSION_IN_ID = re.compile(r"(-\d+)+$")
"""What a second version has at the end of its id: `bpftrace-0-23-2`."""

TRADE_WORDS = re.compile(r"\((?:r|tm|c)\)|@.*|\bwith .* graphics|\b\d+th gen\b|\b(?:cpu|processor)\b", re.IGNORECASE)

X86_64 = "x86-64"
NESTED, HOSTED, BOOTED = "nested virtual machine", "hosted runner", "booted guest"
NOT_NESTED_BELOW_NS, NESTED_ABOVE_NS = 1_000, 3_000
"""What CPUID takes where one hypervisor answers it, and where two do; between the two it is not known.

Source: 9,000 to 22,350 cycles in a nested guest, by the message of the kernel's commit 1201f226c863. At 5 GHz 1 us is
about half of the least of these, and at 3 GHz 3 us is as much.
"""

ARCHITECTURES = {"x86_64": X86_64, "aarch64": "arm64"}
"""An instruction set as `uname -m` has it, to what readers call it."""

MONTHS = "January February March April May June July August September October November December".split()


def titles(suites: Sequence[Suite]) -> dict[str, str]:
    """Case id to its name: its title, with that of its suite where several cases have the title."""
    cases = [(suite, case) for suite in suites for case in suite.cases]
    shared = Counter(case.title for _, case in cases)
    return {case.id: f"{case.title} ({suite.title})" if shared[case.title] > 1 else case.title for suite, case in cases}


def quoted(title: str) -> str:
    """The name of a case inside a sentence: it may have commas of its own."""
    return f"“{title}”"


def level(text: str | None) -> str:
    """A level as readers see it: digits in groups, `30 000`, or its word; empty without a level."""
    return units.count(int(text)) if text and text.isdecimal() else text or ""


def at_level(text: str | None) -> str:
    """What follows the name of a case in a sentence: ` at level 4`; empty without a level."""
    return "" if text is None else f" at level {level(text)}"


def with_level(number: Number) -> str:
    """The name of a case with the level of its number, as charts call a row: `Uprobe, 4`."""
    return number.title if number.level is None else f"{number.title}, {level(number.level)}"


def tool_of(tracer: str) -> str:
    """The tool that a tracer is a version of: `bpftrace` for `bpftrace-0-23-2`."""
    return VERSION_IN_ID.sub("", tracer)


def tracer_name(tracer: str) -> str:
    """A tracer as readers see it where only its id has a version: `bpftrace`, `dtrace 2.0.7` for `dtrace-2-0-7`."""
    return VERSION_IN_ID.sub(lambda match: f" {match[0][1:].replace('-', '.')}", tracer)


def tool(name: str, version: str | None) -> str:
    """A tracer with the number of its version: `bpftrace 0.17.0`; what is part of kernel or program has none."""
    own_name = tool_of(name)
    if version is None or version.startswith("Linux "):
        return own_name
    if number := re.search(r"\d+(\.\d+)+", version):
        return f"{own_name} {number[0]}"
    tracing_tool = known_tool(own_name)
    words: str = tracing_tool.options.get("says", version) if tracing_tool else version
    return words


def tier(machine: Machine, metric: Metric = "time") -> str:
    """The kind of machine; times of different kinds never share a ranking."""
    if metric == "instructions":
        return "emulated"
    if is_hosted(machine.id):
        return HOSTED
    if machine.virtualization is None:
        return "physical"
    if machine.virtualization == KVM_GUEST:  # we booted it, so whether its host is a guest is known
        return NESTED if machine.nested else BOOTED
    return "virtual machine"


def tier_words(tier: str, number: int = 1) -> str:
    """A tier as readers see it: `2 virtual machines`; one machine without its number."""
    if number == 1:
        return tier
    several = f"{tier}s" if tier in {HOSTED, BOOTED} else f"{tier.removesuffix(' machine')} machines"
    return f"{number} {several}"


def several(machines: Sequence[Submission]) -> str:
    """Machines by a submission of each: `6 virtual machines`, `2 physical machines`; of both kinds `8 machines`."""
    virtual = sum(submission.document.machine.virtualization is not None for submission in machines)
    kind = {0: " physical", len(machines): " virtual"}.get(virtual, "")
    return f"{len(machines)}{kind} machines"


def all_kinds(machines: Sequence[Submission]) -> str:
    """Machines by tier, with their CPUs: `1 physical; 7 virtual machines; with 2 to 48 CPUs each`."""
    tiers = Counter(tier(submission.document.machine) for submission in machines)
    kinds = [
        f"{'1 ' if count == 1 else ''}{tier_words(tier_name, count)}" for tier_name, count in sorted(tiers.items())
    ]
    threads = sorted({submission.document.machine.threads for submission in machines})
    span = f"{threads[0]} to {threads[-1]}" if len(threads) > 1 else str(threads[0])
    return f"{'; '.join(kinds)}{';' if len(kinds) > 1 else ''} with {span} CPUs each"


def release_series(kernel_release: str) -> str:
    """The first two numbers of a kernel release: `6.18` of `6.18.44-amd64`."""
    return ".".join(kernel_release.partition("-")[0].split(".")[:2])


def point_release(kernel_release: str) -> str:
    """The numbers that a kernel release begins with: `6.12.107` of `6.12.107+deb13-amd64`, `6.1.0-50` of Debian's."""
    return re.split(r"[^\d.-]", kernel_release, maxsplit=1)[0].strip("-.")


def kernel_name(system: System, *, exact: bool = False) -> str:
    """The kernel as prose calls it: `Linux 6.18`, `FreeBSD 14.4`; `exact` has the whole release."""
    own = next((name for name in ("FreeBSD", "illumos", "macOS") if (system.os or "").startswith(name)), "Linux")
    return f"{own} {system.kernel_release if exact else release_series(system.kernel_release)}"


def nesting(machine: Machine, system: System) -> str:
    """Whether a machine is the guest of a guest, with what decides it: `no: CPUID takes 0.75 us, below 1 us`."""
    if machine.virtualization is None:
        return "no: it is no guest"
    if machine.virtualization == KVM_GUEST and machine.nested is not None:  # we booted it
        return "yes: its host is a guest" if machine.nested else "no: its host is no guest"
    if system.cpuid_ns is None:
        return "not known: the time of CPUID was not recorded"
    takes = f"CPUID takes {units.duration(system.cpuid_ns, 2)}"
    least, most = (units.duration(bound_ns) for bound_ns in (NOT_NESTED_BELOW_NS, NESTED_ABOVE_NS))
    if system.cpuid_ns < NOT_NESTED_BELOW_NS:
        return f"no: {takes}, below {least}"
    return f"yes: {takes}, above {most}" if system.cpuid_ns > NESTED_ABOVE_NS else f"not known: {takes}"


def traps(system: System) -> list[str]:
    """What may exit to a hypervisor, each with its time: `CPUID 4.2 µs`; empty where it was not measured."""
    times = {"CPUID": system.cpuid_ns, "a breakpoint": system.breakpoint_ns, "a single step": system.step_ns}
    return [f"{name} {units.duration(time_ns, 2)}" for name, time_ns in times.items() if time_ns is not None]


def architecture(machine_architecture: str) -> str:
    """An instruction set as prose calls it: `x86-64`, `arm64`; one that we have no word for as `uname -m` gives it."""
    return ARCHITECTURES.get(canonical_architecture(machine_architecture), machine_architecture)


def only_on(case: Case) -> str:
    """The architectures that have a case, `arm64 only`; empty where all have it."""
    return f"{' and '.join(map(architecture, case.architectures))} only" if case.architectures else ""


def cpu(machine: Machine) -> str:
    """The CPU's name; its architecture where it says none."""
    return machine.cpu_model or architecture(machine.architecture)


def machine_facts(document: MachineFile) -> str:
    """What decides a machine's times, for its own page: `AMD EPYC, 2 CPUs, KVM, Linux 6.18`."""
    machine = document.machine
    cpus = f"{machine.threads} CPU{'' if machine.threads == 1 else 's'}"
    return ", ".join(filter(None, (cpu(machine), cpus, machine.virtualization, kernel_name(document.system))))


def machine_name(submission: Submission) -> str:
    """The short name of a machine, which no other has: `EPYC Zen 4 guest, 81fc`; `Linux 6.12.107, emulated, 1c23`.

    The family and core of its CPU, as far as known, and whether it is virtual; of an emulated machine the kernel and
    any other architecture than x86-64. Then the end of its id, or all of it where another machine ends so too.
    """
    machine, system = submission.document.machine, submission.document.system
    end = submission.machine if submission.shares_end else short_id(submission.machine)
    if submission.metric == "instructions":
        release = re.sub(r"(\+\w+)?-(amd64|arm64)$", "", kernel_name(system, exact=True))  # what Debian adds
        own = architecture(machine.architecture)
        return f"{release}{'' if own == X86_64 else f' {own}'}, emulated, {end}"
    family, core = cpu_family(cpu(machine)), submission.microarchitecture or ""
    kind = "runner" if is_hosted(submission.machine) else "guest" if machine.virtualization else ""
    words = (re.sub(r"^(AMD|Intel) (?=\S)", "", family), "" if core in family else core, kind)
    return f"{' '.join(filter(None, words))}, {end}"


def cpu_family(model: str) -> str:
    """A CPU's name without what tells it from others of its family: `AMD EPYC` of `AMD EPYC 7763 64-Core Processor`."""
    words = TRADE_WORDS.sub(" ", model).split()
    return " ".join(word for word in words if not re.search(r"\d", word)) or model


def short_id(machine: str) -> str:
    """The end of a machine's id: `4247`."""
    return machine.rpartition("-")[2]


def tool_with_version(number: Number) -> str:
    return tool(number.tracer, number.tool_version)


def date_words(date: str) -> str:
    """An ISO date as prose has it: `19 May 2023`, `May 2023`, `2023`; anything else as it is."""
    year, *rest = date.split("-")
    if not all(part.isdigit() for part in (year, *rest)):
        return date
    words = [year, *(MONTHS[int(month) - 1] for month in rest[:1]), *(str(int(day)) for day in rest[1:2])]
    return units.GAP.join(reversed(words))


NAME = "Probe Effect"
AUTHORS = f"The {NAME} authors"

ESCAPES = {
    "\\": "{\\textbackslash}",
    "{": "{\\textbraceleft}",
    "}": "{\\textbraceright}",
    "~": "{\\textasciitilde}",
    "^": "{\\textasciicircum}",
    **{sign: f"\\{sign}" for sign in "&%#_$"},
}
"""Braces by their names, because BibTeX counts escaped ones too."""


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing cited, in both forms."""

    text: str
    bibtex: str


@dataclass(frozen=True, slots=True)
class Edition:
    """Which data is cited and where it is published; a `site` of `/` is one whose address is not known."""

    version: str = ""
    site: str = "/"

    @property
    def has_address(self) -> bool:
        """Whether it is known where the site will be."""
        return "://" in self.site

    def address(self, path: str) -> str:
        """The whole address of the page at `path`, which begins with `/`."""
        return self.site.rstrip("/") + path

    @property
    def date(self) -> str:
        """The day of its version, ISO; empty where it has none."""
        return self.version.partition(".")[0] if "-" in self.version else ""


UNKNOWN_EDITION = Edition()
LATER_EDITION = Edition("@version@", "@site@")
"""Its parts are filled in by a layout, so that a page is not made again for every version of the data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is cited: `value` is its number in words, `date` the day (ISO) that it is of."""

    key: str
    title: str
    path: str
    date: str = ""
    value: str = ""
    notes: tuple[str, ...] = ()


def cite(subject: Subject, edition: Edition) -> Citation:
    version = f"data version {edition.version}" if edition.version else ""
    ours = "; ".join(filter(None, (version, *subject.notes)))
    words = [
        f"{AUTHORS}: “{subject.title}”{f', {subject.value}' if subject.value else ''}.",
        f"{NAME}{f', {ours}' if ours else ''}.",
        edition.address(subject.path),
    ]
    fields = {
        "author": AUTHORS,
        "title": subject.title,
        **_when(subject.date or edition.date),
        "howpublished": f"{NAME}, an open data set of what observing costs",
        "version": edition.version,
        "note": "; ".join(filter(None, (subject.value, *subject.notes))),
        "url": edition.address(subject.path),
    }
    return Citation(plain(" ".join(words)), entry(f"probe-effect-{subject.key}", fields))


def cite_original(key: str, title: str, author: str | None, date: str | None, where: str | None) -> Citation:
    """A source of others, by itself, as far as it says who made it, when (ISO) and where."""
    parts = filter(None, (f"“{title}”", date_words(date or ""), where))
    text = f"{f'{author}: ' if author else ''}{', '.join(parts)}."
    fields = {"author": author or "", "title": title, **_when(date or ""), "howpublished": where or ""}
    return Citation(plain(text), entry(key, fields))


def entry(key: str, fields: dict[str, str]) -> str:
    """One `@misc` entry without empty fields. Author and title keep their letters and are not taken apart."""
    lines = [f"@misc{{{re.sub(r'[^a-z0-9]+', '-', key.lower()).strip('-')},"]  # what every BibTeX takes
    for name, value in fields.items():
        if name == "month":
            text = value
        elif name == "url":  # TeX takes an address as it is; what would end the field is percent-encoded
            text = re.sub(r"[\s\\{}<>\"]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), value)
            text = f"{{{text}}}"
        else:
            text = f"{{{{{escaped(value)}}}}}" if name in {"author", "title"} else f"{{{escaped(value)}}}"
        if value:
            lines.append(f"  {name:<12} = {text},")
    return "\n".join([*lines, "}"])


def escaped(text: str) -> str:
    """`text` as TeX that prints just that."""
    return "".join(ESCAPES.get(sign, sign) for sign in plain(text).replace(units.MINUS, "-"))


def plain(text: str) -> str:
    """`text` on one line, without characters that cannot be seen and with blanks of one kind only."""
    return CONTROL.sub(" ", text.replace(units.GROUP, " ").replace(units.GAP, " "))


def _when(date: str) -> dict[str, str]:
    year, *rest = date.split("-")
    if not all(part.isdigit() for part in (year, *rest)):
        return {}
    return {"year": year} | ({"month": MONTHS[int(rest[0]) - 1][:3].lower()} if rest else {})
