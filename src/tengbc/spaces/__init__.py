"""Spaces: functions u_θ that schemes step, and what an equation and its conditions are on them."""

from tengbc.spaces.blocked import BlockedLinearSpace as BlockedLinearSpace
from tengbc.spaces.interface import AbstractLinearisedSpace as AbstractLinearisedSpace
from tengbc.spaces.interface import AbstractSpace as AbstractSpace
from tengbc.spaces.interface import State as State
from tengbc.spaces.linear import LinearSpace as LinearSpace
from tengbc.spaces.network import NetworkSpace as NetworkSpace
