"""What a native launcher returns: written by the back ends into code, read where a launch fails.

A place of its own, free of any IR library, so that running compiled code need not load one.
"""

from __future__ import annotations

BAD_BLOCK = 1
BAD_GRID = 2
NO_MEMORY = -2

# Those of an exported launcher, which checks in C what Python's argument adaptors check.
BAD_ARGUMENT = 3
NOT_LOADED = 4
NO_DRIVER = 5

SANITIZER_FAULT = 6
"""A sanitizer stopped the launch; its state holds the report."""

BAD_TENSOR_MAP = 7
"""A tensor whose address, strides or extents TMA cannot take."""

BAD_CLUSTER = 8
"""A grid that its clusters do not divide."""

SITE_BASE = 1000
"""Statuses from here on name a place in the kernel."""

DRIVER_BASE = 100000
"""Statuses from here on are a GPU driver's own."""
