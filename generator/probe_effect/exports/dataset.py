"""The data set as search engines know it: schema.org `Dataset`, without addresses, which only the layouts know.

https://schema.org/Dataset, and what Google asks for: https://developers.google.com/search/docs/appearance/structured-data/dataset
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from probe_effect import units
from probe_effect.exports.data_folder import ZIP
from probe_effect.exports.table import DataTable, Field, forms
from probe_effect.exports.words import LICENCE, WORDS
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.store.places import sha256


def dataset(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The data set as JSON, with its downloads in the folder `data`."""
    whole = (path for name in tables for path in forms(name, data))
    days = sorted(one.date for one in catalogue.active)
    described = {
        "@type": "Dataset",
        "name": WORDS["title"],
        "description": WORDS["summary"],
        "license": LICENCE["url"],
        "creator": {"@type": "Organization", "name": LICENCE["creator"]},
        "version": catalogue.version,
        "dateModified": catalogue.edition.date,
        "temporalCoverage": f"{days[0]}/{days[-1]}" if days else "",
        "keywords": WORDS["keywords"],
        "measurementTechnique": WORDS["technique"],
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
        "encodingFormat": WORDS["media_types"][path.suffix.removeprefix(".")],
        "contentUrl": f"/data/{path.name}",
        "contentSize": units.size(path.stat().st_size).replace(units.GAP, " "),
        "sha256": sha256(path),
    }
