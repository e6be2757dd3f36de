"""From rows to numbers: blocks, statistics, grades, which number is current, and how machines are called."""
