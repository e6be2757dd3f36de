"""Facts about this machine: one small function per fact, None when its source is absent."""
