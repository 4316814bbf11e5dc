"""Physics-informed networks of space and time, trained by BFGS or by energy natural gradients."""

from tengbc.evidence.baselines.pinn.rows import PointCounts as PointCounts
from tengbc.evidence.baselines.pinn.solve import PinnSolution as PinnSolution
from tengbc.evidence.baselines.pinn.solve import solve_pinn as solve_pinn
