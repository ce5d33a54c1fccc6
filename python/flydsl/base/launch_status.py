"""What a native launcher returns: written by the back ends into code, read where a launch fails.

A place of its own, free of any IR library, so that running compiled code need not load one.
"""

from __future__ import annotations

BAD_BLOCK = 1
BAD_GRID = 2

SITE_BASE = 1000
"""Statuses from here on name a place in the kernel."""

DRIVER_BASE = 100000
"""Statuses from here on are a GPU driver's own."""
