"""The change log as an Atom feed (RFC 4287).

Ids are UUIDs made from what changed and when, so that they stay when the site moves.
"""

import uuid
from xml.etree import ElementTree as ET

from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.changes import Entry, entries
from probe_effect.numbers.citation import AUTHORS, Edition, plain
from probe_effect.pages import changes_page

ATOM = "http://www.w3.org/2005/Atom"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "probe-effect/data/changes")
MOST_ENTRIES = 100
"""A feed is read for what is new; the page has all."""


def feed(catalogue: Catalogue) -> str:
    """The newest changes, each leading to the page of what changed."""
    found = entries(catalogue)[:MOST_ENTRIES]
    root = ET.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _text(root, "title", "Probe Effect: changes of the data")
    _text(root, "id", NAMESPACE.urn)
    _text(root, "updated", max(map(_moment, found), default="1970-01-01T00:00:00Z"))
    _text(ET.SubElement(root, "author"), "name", AUTHORS)
    _text(root, "rights", "CC BY 4.0")
    _add_link(root, "alternate", "text/html", _link(catalogue.edition, changes_page.PAGE))
    _add_link(root, "self", "application/atom+xml", _link(catalogue.edition, changes_page.FEED))
    for entry in found:
        element = ET.SubElement(root, "entry")
        _text(element, "title", changes_page.heading(entry))
        _text(element, "id", uuid.uuid5(NAMESPACE, entry.id).urn)
        _text(element, "updated", _moment(entry))
        path = changes_page.address(entry.what[0]) if len(entry.what) == 1 else changes_page.PAGE
        _add_link(element, "alternate", "text/html", _link(catalogue.edition, path))
        ET.SubElement(element, "category", term=entry.kind)
        _text(element, "summary", changes_page.sentence(entry) or changes_page.heading(entry))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _text(parent: ET.Element, name: str, text: str) -> None:
    """A child with `text`, without the characters that XML cannot hold."""
    ET.SubElement(parent, name).text = plain(text)


def _add_link(parent: ET.Element, rel: str, kind: str, href: str) -> None:
    ET.SubElement(parent, "link", rel=rel, type=kind, href=href)


def _moment(entry: Entry) -> str:
    """When it was run, to the second; the day's beginning for what was written by hand."""
    if entry.submission is not None:
        return entry.submission.document.run.ended or entry.submission.started
    return f"{entry.date}T00:00:00Z"


def _link(edition: Edition, path: str) -> str:
    """Whole where the site's address is known; else from the feed's own place, which is `/data/`."""
    return edition.address(path) if "://" in edition.site else f"..{path}"
