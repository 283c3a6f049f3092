"""Measured datasets: what they hold, and how they are read."""
