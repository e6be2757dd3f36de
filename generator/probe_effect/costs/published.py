"""Costs that others printed, each on a machine of theirs: what is left where nobody here measured or counted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import PublishedSource
from probe_effect.numbers.likeness import Facts
from probe_effect.numbers.published import DERIVED_MARK, PUBLISHED_MARK, printed_text
from probe_effect.store.source_file import Figure

TIER = "published"
"""What stands for the tier of a machine of others, so that it is comparable with none of ours."""


@dataclass(frozen=True, slots=True)
class PublishedCost:
    """A cost of a case as a source printed it, or as it follows from what it printed."""

    source: PublishedSource
    figure: Figure

    @property
    def cost(self) -> Estimate:
        """ns an event, without an interval: no source has one."""
        assert self.figure.cost_ns is not None
        return Estimate(float(self.figure.cost_ns))

    @property
    def text(self) -> str:
        """The cost as printed, or as worked out, with its mark."""
        derived = f"{units.duration(self.cost.value)}{DERIVED_MARK}"
        return derived if self.is_derived else f"{printed_text(self.figure)}{PUBLISHED_MARK}"

    @property
    def is_derived(self) -> bool:
        """Whether the cost is not printed, and was worked out here from what is."""
        return self.figure.cost_from == "derived"

    @property
    def machine(self) -> str:
        """The source, and after a full stop the platform where it has several."""
        platform = re.sub(r"[^a-z0-9]+", "-", (self.figure.platform or "").lower()).strip("-")
        return f"{self.source.id}.{platform}" if platform else self.source.id

    @property
    def hardware(self) -> str:
        """The platform as the figure names it, or else the hardware as the source describes it."""
        return self.figure.platform or self.source.document.hardware

    @property
    def is_physical(self) -> bool:
        """Whether it was measured without a hypervisor."""
        return self.hardware in self.source.document.physical

    @property
    def label(self) -> str:
        """The author of the figure's source, and its date in words."""
        document = self.source.document
        return f"{document.author}, {names.date_words(document.date)}"

    @property
    def facts(self) -> Facts:
        """Its machine as far as likeness looks at it: like no other."""
        return Facts(
            machine=self.machine, tier=TIER, architecture="not stated", cpu_model=self.hardware, kernel_release=""
        )


def printed_costs(sources: Iterable[PublishedSource]) -> dict[tuple[str, str, str], PublishedCost]:
    """Machine, tracer and case to the cost that was printed; left out where a source has several for the three.

    Several are of variants that the case does not tell apart, such as the first instruction of a function.
    """
    found: dict[tuple[str, str, str], list[PublishedCost]] = {}
    for source in sources:
        for figure in source.figures:
            if figure.case and figure.tracer and figure.cost_ns is not None and figure.cost_ns > 0:
                one = PublishedCost(source, figure)
                found.setdefault((one.machine, figure.tracer, figure.case), []).append(one)
    return {key: some[0] for key, some in found.items() if len(some) == 1}
