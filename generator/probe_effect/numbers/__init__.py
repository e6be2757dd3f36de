"""All numbers and what they are of: the index, what is current, names, likeness, citations."""
