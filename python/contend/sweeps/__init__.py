"""Many points of a design space: plans, the store of what was simulated, threads and clusters."""
