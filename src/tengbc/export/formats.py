"""The formats; no heavy imports, so that the command line can refuse others at once."""

FORMATS = {"netcdf": ".nc", "zarr": ".zarr", "vtk": ".pvd", "csv": ".csv", "npz": ".npz"}
"""What can be written, and how the names of such files end."""
