"""A solution for other programs: xarray, NetCDF, Zarr, VTK, CSV, NumPy (extras `export`, `vtk`)."""
