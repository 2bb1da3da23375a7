"""Many runs: scenarios, modes, parameters and seeds of a grid, on Dask."""
