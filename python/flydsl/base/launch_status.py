"""What a native launcher returns: written by the back ends into code, read where a launch fails.

A place of its own, free of any IR library, so that running compiled code need not load one.
"""

from __future__ import annotations

from flydsl.native.constants import STATUS_NO_MEMORY

BAD_BLOCK = 1
BAD_GRID = 2
NO_MEMORY = STATUS_NO_MEMORY

# Those of an exported launcher, which checks in C what Python's argument adaptors check.
BAD_ARGUMENT = 3
NOT_LOADED = 4
NO_DRIVER = 5

SANITIZER_FAULT = 6
"""A sanitizer stopped the launch; its state holds the report."""

BAD_MAP_ADDRESS = 7
"""A tensor that does not start where TMA can read; the report has the bytes it is past such a place."""

BAD_CLUSTER = 8
"""A grid that its clusters do not divide."""

BAD_SHARED = 9
"""Bytes of shared memory, known at the launch, that are too few for the kernel or too many for the device."""

BAD_MAP_STRIDE = 10
"""A stride that TMA cannot step by; the report has the mode and the bytes."""

BAD_MAP_EXTENT = 11
"""An extent that TMA cannot take; the report has the mode and the extent."""

BAD_LAYOUT = 12
"""Extents or strides, known at the launch, for which the layout algebra of a kernel has no answer; the report has the
numbers, and the place says what is wrong with them."""

SITE_BASE = 1000
"""Statuses from here on name a place in the kernel."""

DRIVER_BASE = 100000
"""Statuses from here on are a GPU driver's own."""
