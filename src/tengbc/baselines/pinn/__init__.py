"""Physics-informed networks of space and time, trained by BFGS or by energy natural gradients."""

from tengbc.baselines.pinn.rows import PointCounts as PointCounts
from tengbc.baselines.pinn.solution import PinnSolution as PinnSolution
from tengbc.baselines.pinn.solve import solve_pinn as solve_pinn
