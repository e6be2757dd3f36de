"""The data set as search engines know it: schema.org `Dataset`, without addresses, which only the layouts know.

https://schema.org/Dataset, and what Google asks for: https://developers.google.com/search/docs/appearance/structured-data/dataset
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from probe_effect import units
from probe_effect.exports import licence
from probe_effect.exports.data_folder import ZIP
from probe_effect.exports.data_package import KEYWORDS, MEDIA_TYPES, SUMMARY, TITLE
from probe_effect.exports.files import sha256
from probe_effect.exports.table import DataTable, Field, forms
from probe_effect.numbers.catalogue import Catalogue

TECHNIQUE = (
    "Runs with and without a tracer in randomised blocks; Hodges-Lehmann estimate with the exact Wilcoxon signed-rank "
    "95 % interval"
)


def dataset(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The data set as JSON, with its downloads in the folder `data`."""
    whole = (path for name in tables for path in forms(name, data))
    days = sorted(one.date for one in catalogue.active)
    described = {
        "@type": "Dataset",
        "name": TITLE,
        "description": SUMMARY,
        "license": licence.URL,
        "creator": {"@type": "Organization", "name": licence.CREATOR},
        "version": catalogue.version,
        "dateModified": catalogue.edition.date,
        "temporalCoverage": f"{days[0]}/{days[-1]}" if days else "",
        "keywords": list(KEYWORDS),
        "measurementTechnique": TECHNIQUE,
        "variableMeasured": _variables(field for name in ("costs", "counts") for field in tables[name].fields),
        "isAccessibleForFree": True,
        "distribution": [_download(path) for path in (data / ZIP, *whole)],
    }
    return json.dumps({key: value for key, value in described.items() if value != ""}, ensure_ascii=False)


def _variables(fields: Iterable[Field]) -> list[dict[str, str]]:
    """Each quantity that has a unit, once."""
    found = {field.name: field for field in fields if field.unit}
    return [
        {"@type": "PropertyValue", "name": name, "unitText": field.unit or "", "description": field.text}
        for name, field in found.items()
    ]


def _download(path: Path) -> dict[str, str]:
    return {
        "@type": "DataDownload",
        "name": path.name,
        "encodingFormat": MEDIA_TYPES[path.suffix.removeprefix(".")],
        "contentUrl": f"/data/{path.name}",
        "contentSize": units.size(path.stat().st_size).replace(units.GAP, " "),
        "sha256": sha256(path),
    }
