"""The simulator from Python: the compiled core, and the replications of points on threads or on SimGrid's engine."""
