"""A review of a pull request: what it would change in the data, what to look at, and that as text for GitHub."""
