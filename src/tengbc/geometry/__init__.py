"""Domains with named boundary segments, and points on them."""

from tengbc.geometry.annulus import AnnularSector as AnnularSector
from tengbc.geometry.annulus import Annulus as Annulus
from tengbc.geometry.boxes import Box as Box
from tengbc.geometry.boxes import Interval as Interval
from tengbc.geometry.boxes import PeriodicBox as PeriodicBox
from tengbc.geometry.boxes import Rectangle as Rectangle
from tengbc.geometry.disk import Ball as Ball
from tengbc.geometry.disk import Disk as Disk
from tengbc.geometry.domain import Domain as Domain
from tengbc.geometry.parts import Parted as Parted
from tengbc.geometry.points import BoundaryPoints as BoundaryPoints
from tengbc.geometry.points import Points as Points
from tengbc.geometry.polygon import Polygon as Polygon
from tengbc.geometry.polyhedron import Polyhedron as Polyhedron
from tengbc.geometry.regions import Regioned as Regioned
