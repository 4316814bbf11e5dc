"""Export: a VTK time series for ParaView, NetCDF for xarray, a CSV file of probes."""

import numpy as np

import tengbc as tb

solution = tb.solve(tb.problems.get("heat-mixed"), rtol=1e-3)

# Open heat.pvd in ParaView: triangles that end on the domain's curved edges, one file per time.
solution.export("heat.pvd", "vtk", times=np.linspace(0.0, 1.0, 11))

# On the command line: tengbc export DIR --to netcdf
solution.export("heat.nc", "netcdf", where=51, times=[0.0, 0.5, 1.0])
data = solution.to_xarray(51, [0.0, 0.5, 1.0])
print(data)

probes = np.array([[0.6, 0.1], [0.5, 0.5]])
solution.export("probes.csv", "csv", where=probes)

# The network itself: one file, which gives the same values to the last bit.
path = solution.save("heat.safetensors")
assert (tb.load(path)(probes, 0.3) == solution(probes, 0.3)).all()
