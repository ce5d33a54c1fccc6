"""All functions of ``fx.rocdl`` in one namespace; each family has a file of its own."""

from __future__ import annotations

from flydsl.expr.rocdl import arithmetic, copies, lanes, scheduling
from flydsl.expr.rocdl.arithmetic import *  # noqa: F403
from flydsl.expr.rocdl.copies import *  # noqa: F403
from flydsl.expr.rocdl.lanes import *  # noqa: F403
from flydsl.expr.rocdl.matrix import mfma_intrinsics, scaled_conversions
from flydsl.expr.rocdl.matrix.mfma_intrinsics import *  # noqa: F403
from flydsl.expr.rocdl.matrix.scaled_conversions import *  # noqa: F403
from flydsl.expr.rocdl.memory import buffer, lds_moves, raw_buffers
from flydsl.expr.rocdl.memory.buffer import *  # noqa: F403
from flydsl.expr.rocdl.memory.lds_moves import *  # noqa: F403
from flydsl.expr.rocdl.memory.raw_buffers import *  # noqa: F403
from flydsl.expr.rocdl.scheduling import *  # noqa: F403

__all__: list[str] = []
__all__ += arithmetic.__all__
__all__ += buffer.__all__
__all__ += copies.__all__
__all__ += lanes.__all__
__all__ += lds_moves.__all__
__all__ += mfma_intrinsics.__all__
__all__ += raw_buffers.__all__
__all__ += scaled_conversions.__all__
__all__ += scheduling.__all__
