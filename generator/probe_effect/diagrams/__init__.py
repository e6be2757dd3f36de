"""Drawings of how probes work: what is said in boxes, laid out by measured text, as SVG for both themes."""
