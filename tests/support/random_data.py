"""Random data that can be had again: one generator for each test, seeded by the run's seed and the test's name.

A test takes the ``rng`` fixture; a function that tests call asks ``generator()``. A failure prints the seed, and
``FLYDSL_TEST_SEED=that_number pytest that_test`` draws the same data again.
"""

from __future__ import annotations

import os
import secrets
import zlib

import numpy as np

SEED = int(os.environ.get("FLYDSL_TEST_SEED") or secrets.randbits(31))
os.environ["FLYDSL_TEST_SEED"] = str(SEED)  # the workers of a run draw the same, and so take the same cases

_generator = np.random.default_rng(SEED)


def begin(test: str) -> None:
    """Start the generator of the test with this name."""
    global _generator
    _generator = np.random.default_rng((SEED, zlib.crc32(test.encode())))


def generator() -> np.random.Generator:
    """The generator of the running test."""
    return _generator
