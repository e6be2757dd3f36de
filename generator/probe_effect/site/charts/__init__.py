"""Charts as plain Vega-Lite specs, drawn to SVG at build time and handed out as JSON for the live form."""
