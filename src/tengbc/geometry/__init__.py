"""Domains with named boundary segments, and points on them."""

from tengbc.geometry.annular_sector import AnnularSector as AnnularSector
from tengbc.geometry.annulus import Annulus as Annulus
from tengbc.geometry.ball import Ball as Ball
from tengbc.geometry.box import Box as Box
from tengbc.geometry.disk import Disk as Disk
from tengbc.geometry.domain import Domain as Domain
from tengbc.geometry.interval import Interval as Interval
from tengbc.geometry.periodic_box import PeriodicBox as PeriodicBox
from tengbc.geometry.points import BoundaryPoints as BoundaryPoints
from tengbc.geometry.points import Points as Points
from tengbc.geometry.polygon import Polygon as Polygon
from tengbc.geometry.rectangle import Rectangle as Rectangle
