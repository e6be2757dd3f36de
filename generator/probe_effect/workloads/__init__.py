"""Programs that perform a known number of events: compiled, started, timed."""
