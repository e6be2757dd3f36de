"""What a script's probes cost on this machine: its own clauses, moved into a loop of ours, timed with and without."""
