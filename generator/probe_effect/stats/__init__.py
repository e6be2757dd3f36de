"""Pure statistics: arrays in, values out; no files, no clock, no randomness."""
