"""What was measured beside what is predicted for it: configurations of a dataset as scenarios."""
