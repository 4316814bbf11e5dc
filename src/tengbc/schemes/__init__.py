"""Time schemes; a Runge–Kutta method is a tableau."""

from tengbc.schemes.adams import AdamsBashforth as AdamsBashforth
from tengbc.schemes.bdf import BackwardDifferences as BackwardDifferences
from tengbc.schemes.radau import RadauIIA as RadauIIA
from tengbc.schemes.runge_kutta import RungeKutta as RungeKutta
from tengbc.schemes.space import NetworkSpace as NetworkSpace
from tengbc.schemes.space import Space as Space
from tengbc.schemes.state import State as State
from tengbc.schemes.tableau import EULER as EULER
from tengbc.schemes.tableau import HEUN as HEUN
from tengbc.schemes.tableau import RK4 as RK4
from tengbc.schemes.tableau import Tableau as Tableau
