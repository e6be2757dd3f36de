"""From the text of a tracing script to its probes, and what it does at each event; this starts and opens nothing."""
