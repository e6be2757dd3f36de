"""Examples for the page that says how to cite: real ones, with the data of today."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from probe_effect.numbers.home import reference_submission
from probe_effect.pages import citing
from probe_effect.pages.fragments import best_known_first

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.citation import Citation


def examples_json(catalogue: Catalogue) -> str:
    """What the `citation` shortcode prints, by name."""
    return json.dumps({name: asdict(found) for name, found in examples(catalogue).items()}, ensure_ascii=False)


def examples(catalogue: Catalogue) -> dict[str, Citation]:
    """`data`, and as far as there is any: `release`, `number`, `machine`, `figure`."""
    found = {"data": citing.cite_data(catalogue)}
    if catalogue.releases:
        found["release"] = citing.cite_release(catalogue.releases[-1], catalogue)
    if reference := reference_submission(catalogue.numbers):
        found["machine"] = citing.cite_machine(reference.document, catalogue)
        sound = (one for one in reference.numbers if one.cost and one.distinguishable and one.threshold(5))
        if number := next(sound, None):
            found["number"] = citing.cite_number(number, catalogue)
    printed = ((source, one) for source in best_known_first(catalogue) for one in source.figures if one.printed)
    if figure := next(printed, None):
        found["figure"] = citing.cite_figure(*figure, catalogue)
    return found
