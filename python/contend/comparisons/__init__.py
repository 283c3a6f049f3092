"""Two designs point by point, by replications that have the same random numbers."""
