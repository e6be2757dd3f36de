"""The commands that the guide shows, run as a reader would run them."""
