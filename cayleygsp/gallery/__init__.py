"""Example graphs: those of the CayleyNets paper, graphs with a known spectrum, and random networks."""

from cayleygsp.gallery.neighbours import mnist_grid, sensor
from cayleygsp.gallery.networks import collaboration, scale_free
from cayleygsp.gallery.planted import communities
from cayleygsp.gallery.regular import grid, path, random_regular, ring, star

__all__ = [
    "collaboration",
    "communities",
    "grid",
    "mnist_grid",
    "path",
    "random_regular",
    "ring",
    "scale_free",
    "sensor",
    "star",
]
