"""A report: one HTML page that shows a run to a reader, without the network."""
