"""What `advise`, `watch` and `predict` find out, without printing it: the running system beside measured costs."""
