"""Which measured machines are like a given one, and in what.

Times of different tiers or instruction sets are never compared (METHOD.md, tiers and grades). Among machines that are
of one tier and one instruction set, the CPU decides before the kernel: what a trap or an interrupt costs is the CPU's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from probe_effect.model import Metric, series_of
from probe_effect.numbers.names import NESTED, architecture, cpu_family, machine_name, release_series, tier, tier_words
from probe_effect.reduce.submission import Submission
from probe_effect.store.machine_file import Machine, canonical_architecture


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What likeness looks at. `tier` is as `names.tier` calls it, `architecture` by its one name: `x86_64`, `aarch64`.

    `branches`: how the kernel guards indirect branches, of which a probe makes several: `Retpolines`; None where nobody
    knows. Machines of one name that differ in it differ several times in the cost of a probe (content/findings).
    `name`: its short one; empty for a machine without submissions.
    """

    machine: str
    tier: str
    architecture: str
    cpu_model: str | None
    kernel_release: str
    branches: str | None = None
    name: str = ""

    @property
    def kind(self) -> str:
        """What kind of machine it is, in words: `physical, x86-64`; that a guest is nested is believed."""
        return f"{tier_words(self.tier)}, {architecture(self.architecture)}"


@dataclass(frozen=True, slots=True)
class Likeness:
    """A machine, what it has in common with the given one, and whether their times may be compared."""

    machine: str
    reasons: tuple[str, ...]
    comparable: bool
    is_same: bool = False
    name: str = ""


def facts_of(
    machine: Machine,
    kernel_release: str,
    metric: Metric = "time",
    vulnerabilities: Mapping[str, str] = MappingProxyType({}),
) -> Facts:
    """The facts of a machine as `machine.json` has them."""
    return Facts(
        machine=machine.id,
        tier=tier(machine, metric),
        architecture=canonical_architecture(machine.architecture),
        cpu_model=machine.cpu_model,
        kernel_release=kernel_release,
        branches=_branches(vulnerabilities.get("spectre_v2")),
    )


def facts_of_submission(submission: Submission) -> Facts:
    """The facts of the machine of a submission."""
    document = submission.document
    system = document.system
    found = facts_of(document.machine, system.kernel_release, submission.metric, system.vulnerabilities)
    return replace(found, name=machine_name(submission))


def _branches(spectre_v2: str | None) -> str | None:
    """`Retpolines` of `Mitigation: Retpolines; STIBP: disabled`, as arch/x86/kernel/cpu/bugs.c writes it."""
    return None if spectre_v2 is None else spectre_v2.partition(";")[0].removeprefix("Mitigation: ").strip()


def by_likeness(given: Facts, others: Iterable[Facts]) -> list[Likeness]:
    """`others`, the most like `given` first; those that may not be compared come last."""
    return [likeness(given, one) for one in sorted(others, key=lambda one: _distance(given, one))]


def likeness(given: Facts, other: Facts) -> Likeness:
    """What `other` has in common with `given`, in words, and what keeps the two apart."""
    if given.machine == other.machine:
        return Likeness(other.machine, ("the same machine",), comparable=True, is_same=True, name=other.name)
    apart = _apart(given, other)
    if apart:
        return Likeness(other.machine, apart, comparable=False, name=other.name)
    kind = "believed nested" if other.tier == NESTED else other.tier.removesuffix(" machine")
    shared = (_cpu(given, other), *_guards(given, other), _kernel(given, other), f"{kind} too")
    return Likeness(other.machine, shared, comparable=True, name=other.name)


def _apart(given: Facts, other: Facts) -> tuple[str, ...]:
    """Why the times of two machines may not be compared."""
    pairs = ((other.tier, given.tier), (architecture(other.architecture), architecture(given.architecture)))
    return tuple(f"{its}, not {own}" for its, own in pairs if its != own)


def _cpu(given: Facts, other: Facts) -> str:
    if other.cpu_model is None or given.cpu_model is None:
        return "CPU not known"
    if other.cpu_model == given.cpu_model:
        return f"same CPU name, {other.cpu_model}"
    family = cpu_family(other.cpu_model)
    return f"same family name, {family}" if family == cpu_family(given.cpu_model) else f"another CPU, {other.cpu_model}"


def _guards(given: Facts, other: Facts) -> list[str]:
    if given.branches is None or other.branches is None:
        return []
    is_same = given.branches == other.branches
    return [f"{'same' if is_same else 'another'} guard of indirect branches, {other.branches}"]


def _kernel(given: Facts, other: Facts) -> str:
    if other.kernel_release == given.kernel_release:
        return f"same kernel, {other.kernel_release}"
    series = release_series(other.kernel_release)
    return f"same kernel {series}" if series == release_series(given.kernel_release) else f"another kernel, {series}"


def _distance(given: Facts, other: Facts) -> tuple[object, ...]:
    """Smaller is nearer; the id decides between equals, so that the order is stable."""
    family, own_family = (cpu_family(one.cpu_model or "") for one in (other, given))
    return (
        other.machine != given.machine,
        bool(_apart(given, other)),
        other.cpu_model != given.cpu_model,
        family != own_family,
        None not in (given.branches, other.branches) and other.branches != given.branches,
        release_distance(given.kernel_release, other.kernel_release),
        other.machine,
    )


def release_distance(given: str, other: str) -> tuple[bool, int, int]:
    """Another release, then how far apart the first two numbers of two kernel releases are."""
    (own_major, own_minor), (major, minor) = series_of(given), series_of(other)
    return given != other, abs(major - own_major), abs(minor - own_minor)
