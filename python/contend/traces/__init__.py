"""What one replication does in simulated time: the trace file, and pictures of a stretch of it."""
