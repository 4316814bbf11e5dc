"""A solution for other programs: xarray, NetCDF, Zarr, VTK, CSV, NumPy (extras `export`, `vtk`)."""

FORMATS = {"netcdf": ".nc", "zarr": ".zarr", "vtk": ".pvd", "csv": ".csv", "npz": ".npz"}
"""What can be written, and how the names of such files end."""
