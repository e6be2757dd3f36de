"""Tools that watch: one module per tool behind the `Tracer` protocol."""
