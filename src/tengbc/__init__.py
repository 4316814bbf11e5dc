"""tengbc: march a neural network through time, boundary conditions included, error stated."""
