"""The only code that knows columns, keys and paths under `data/`."""
