"""Kinds of access to memory, to be added up, as `WorkgroupEmitter.access` takes them."""

from __future__ import annotations

READ = 1
WRITE = 2
ATOMIC = 4
QUIET = 8
"""A read of what perhaps nobody wrote: the value does not matter."""
ORDERING = 16
"""An atomic that orders what blocks do around it."""
