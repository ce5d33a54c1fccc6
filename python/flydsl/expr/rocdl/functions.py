"""All functions of ``fx.rocdl`` in one namespace; each family has a file of its own."""

from __future__ import annotations

from flydsl.expr.rocdl import (
    arithmetic,
    buffer,
    copies,
    lanes,
    lds_moves,
    mfma_intrinsics,
    raw_buffers,
    scaled_conversions,
    scheduling,
)
from flydsl.expr.rocdl.arithmetic import *  # noqa: F403
from flydsl.expr.rocdl.buffer import *  # noqa: F403
from flydsl.expr.rocdl.copies import *  # noqa: F403
from flydsl.expr.rocdl.lanes import *  # noqa: F403
from flydsl.expr.rocdl.lds_moves import *  # noqa: F403
from flydsl.expr.rocdl.mfma_intrinsics import *  # noqa: F403
from flydsl.expr.rocdl.raw_buffers import *  # noqa: F403
from flydsl.expr.rocdl.scaled_conversions import *  # noqa: F403
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
