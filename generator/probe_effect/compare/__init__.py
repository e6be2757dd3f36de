"""Numbers against each other: two of a case, machines, kernels, what others published, a branch and its base."""
