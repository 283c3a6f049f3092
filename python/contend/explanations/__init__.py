"""Where the time of a point goes, who waits for whom, and what would help."""
