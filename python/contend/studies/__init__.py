"""What published studies say, against predictions: statements as checks, and the costs of locks."""
