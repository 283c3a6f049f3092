"""Output of foreign benchmark programs as measured datasets: `contend import FORMAT FILE -o DATASET`."""
