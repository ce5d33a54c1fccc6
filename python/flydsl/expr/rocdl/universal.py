"""What every AMD GPU has: the generic atoms, buffers, waits."""

from __future__ import annotations

from flydsl.expr.atoms.ops_atom import UniversalAtomic, UniversalCopy, UniversalFMA
from flydsl.expr.rocdl.memory.buffer import get_buffer_rsrc, make_buffer_ptr, make_buffer_tensor
from flydsl.expr.rocdl.scheduling import asyncmark, s_waitcnt, wait_asyncmark

__all__ = [
    "UniversalAtomic", "UniversalCopy", "UniversalFMA", "asyncmark", "get_buffer_rsrc", "make_buffer_ptr",
    "make_buffer_tensor", "s_waitcnt", "wait_asyncmark",
]  # fmt: skip
