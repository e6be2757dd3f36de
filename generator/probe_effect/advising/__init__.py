"""What `advise`, `watch`, `predict` and `try` find out: a script's cost in a loop of ours, and pairs of runs."""
