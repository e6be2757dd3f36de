"""Small drawings without Vega-Lite, put together element by element; whatever text is in them is escaped."""

from xml.etree import ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)


def element(name: str, *content: ET.Element, text: str | None = None, **attributes: str | float) -> ET.Element:
    """An element; `class_` and `aria_label` are the attributes `class` and `aria-label`."""
    made = ET.Element(name, {key.rstrip("_").replace("_", "-"): written(value) for key, value in attributes.items()})
    made.text = text
    made.extend(content)
    return made


def written(value: str | float) -> str:
    """A length to two decimals, without zeros that say nothing."""
    return value if isinstance(value, str) else f"{round(value, 2):g}"


def svg(root: ET.Element) -> str:
    """The drawing as text that HTML may contain: no element is left open, which only HTML's own may be."""
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)
