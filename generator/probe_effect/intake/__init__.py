"""A change of the data: what it would publish, what a reviewer sees of it, and how it becomes a pull request."""
