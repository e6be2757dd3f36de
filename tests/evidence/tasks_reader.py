"""A reader with a page open: takes the steps of `tasks.py`, and records the way."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Locator, Page

READER = Path(__file__).with_name("tasks.js")
WORDS_A_MINUTE = 230
MOST_CLICKS = 3
MOST_WORDS = 250
PATIENCE_MS = 5000
PAGE_PATIENCE_MS = 30_000


@dataclass(slots=True)
class Way:
    """A reader's way: clicks, words passed, the browser's seconds, the answer, and where the way ended without one."""

    task: str
    asks: str
    clicks: int = 0
    words: int = 0
    browser_s: float = 0.0
    answer: str = ""
    is_right: bool = False
    stopped: str = ""
    pages: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The browser's and the reader's, in seconds."""
        return self.browser_s + self.words * 60 / WORDS_A_MINUTE

    @property
    def is_within_targets(self) -> bool:
        """Whether the right answer comes after few clicks and words."""
        return self.is_right and self.clicks <= MOST_CLICKS and self.words <= MOST_WORDS


class Reader:
    """Somebody with a page open who takes steps, and whose way is recorded."""

    def __init__(self, page: Page, address: str, way: Way) -> None:
        page.set_default_timeout(PATIENCE_MS)
        page.set_default_navigation_timeout(PAGE_PATIENCE_MS)
        page.add_init_script(f'addEventListener("DOMContentLoaded", () => {{ {READER.read_text(encoding="utf-8")} }})')
        self.page, self.address, self.way = page, address, way
        self.used: Locator | None = None

    def take(self, step: Mapping[str, str]) -> None:
        """One step. Raises: Error when the page does not have what it needs."""
        verb = next(iter(step))
        began = time.perf_counter()
        getattr(self, verb)(step)
        self.way.browser_s += time.perf_counter() - began
        self.way.clicks += verb not in {"go", "read"}

    def reach(self, place: Locator) -> Locator:
        """Read on to a place, and be there."""
        place.wait_for()
        place.evaluate("place => place.scrollIntoView({ block: 'nearest' })")
        self.way.words += place.evaluate("place => reader.to(place)")
        return place

    def use(self, place: Locator) -> Locator:
        """Read on to a control and what it says."""
        own = self.reach(place).evaluate("place => reader.used(place)")
        self.way.words += own
        return place

    def go(self, step: Mapping[str, str]) -> None:
        """Come to a page of the site."""
        self.page.goto(urljoin(self.address, step["go"]))
        self.arrive()

    def arrive(self) -> None:
        """Note the page that the reader came to."""
        self.way.pages.append(self.page.url.removeprefix(self.address))

    def click(self, step: Mapping[str, str]) -> None:
        """Click something, and be where it leads."""
        around = self.page.locator(step.get("within", "body"))
        if step["click"] == "summary":
            found = around.locator("summary", has_text=step["named"])
        else:
            found = around.get_by_role(step["click"], name=step["named"], exact="exact" in step)  # type: ignore[arg-type]
        place = self.use(found.locator("visible=true").first)
        leads_to = urljoin(self.page.url, place.get_attribute("href") or "")
        if urlsplit(leads_to).path != urlsplit(self.page.url).path:
            with self.page.expect_event("load"):
                place.click()
            self.arrive()
        else:
            place.click()
            if urlsplit(leads_to).fragment:
                self.page.evaluate("hash => reader.jump(hash)", f"#{urlsplit(leads_to).fragment}")

    def choose(self, step: Mapping[str, str]) -> None:
        """Take an option of a selection; some get theirs only once the reader is there."""
        selection = self.page.get_by_label(step["choose"]).locator("visible=true").first
        self.use(selection).focus()
        selection.locator("option", has_text=step["option"]).first.wait_for(state="attached")
        value, words = selection.evaluate("(selection, text) => reader.option(selection, text)", step["option"])
        self.way.words += words
        selection.select_option(value)

    def fill(self, step: Mapping[str, str]) -> None:
        """Write into a field."""
        self.used = self.use(self.page.get_by_label(step["fill"]).locator("visible=true").first)
        self.used.fill(step["with"])

    def press(self, step: Mapping[str, str]) -> None:
        """Press a key in the field that was filled last."""
        assert self.used is not None
        self.used.press(step["press"])

    def read(self, step: Mapping[str, str]) -> None:
        """Find the answer, and read it."""
        place = (
            self.page.locator(step["read"])
            .filter(has_text=pattern(step.get("says", ".")))
            .locator("visible=true")
            .first
        )
        place.wait_for()
        self.reach(place).evaluate("place => reader.used(place)")
        self.way.answer = f"{self.way.answer} {' '.join(place.inner_text().split())}".strip()


def pattern(text: str) -> re.Pattern[str]:
    """What matches, whatever its case and white space."""
    return re.compile(text.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)
