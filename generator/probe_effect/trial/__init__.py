"""A command with and without a script, in turns: what the script costs that command on this machine."""
