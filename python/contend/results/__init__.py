"""What runs give: measures and words for them, means over replications, data frames, tables and files."""
