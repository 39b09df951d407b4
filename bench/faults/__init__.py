"""Faults that kernels of real devices have had or could have: see `bench.planter.Fault`."""

from bench.faults.convolutions import CONVOLUTIONS
from bench.faults.images import IMAGES
from bench.faults.matrices import MATRICES
from bench.faults.random_numbers import RANDOM_NUMBERS
from bench.faults.rows import ROWS
from bench.faults.state import STATE

FAULTS = (*CONVOLUTIONS, *IMAGES, *MATRICES, *RANDOM_NUMBERS, *ROWS, *STATE)
