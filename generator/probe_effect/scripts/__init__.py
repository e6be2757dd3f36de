"""From the text of a tracing script to what it probes, and what it does at each event; nothing is started or opened."""
