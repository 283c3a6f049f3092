"""How good predictions are: measured points against predicted ones, and against simpler models on the same split."""
