"""What a checkout and its machine are asked: tests, checks of sources, benchmarks, what is installed."""
