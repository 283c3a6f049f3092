"""Scenarios: from a file and changes to the points that will be simulated, and which of these are looked at."""
