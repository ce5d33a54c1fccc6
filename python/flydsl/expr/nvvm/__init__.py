"""``fx.nvvm``: what only NVIDIA GPUs have."""

from __future__ import annotations

from flydsl.expr.nvvm import (
    arithmetic,
    barriers,
    cluster_memory,
    copies,
    matrix_moves,
    pipeline,
    tensor_map,
    tma,
    tma_copies,
    warpgroup,
)
from flydsl.expr.nvvm.arithmetic import *
from flydsl.expr.nvvm.barriers import *
from flydsl.expr.nvvm.cluster_memory import *
from flydsl.expr.nvvm.copies import *
from flydsl.expr.nvvm.matrix_moves import *
from flydsl.expr.nvvm.pipeline import *
from flydsl.expr.nvvm.tensor_map import *
from flydsl.expr.nvvm.tma import *
from flydsl.expr.nvvm.tma_copies import *
from flydsl.expr.nvvm.warpgroup import *
from flydsl.expr.nvvm.warpgroup import MmaSync, Wgmma

__all__ = ["MmaSync", "Wgmma"]
__all__ += arithmetic.__all__
__all__ += barriers.__all__
__all__ += cluster_memory.__all__
__all__ += copies.__all__
__all__ += matrix_moves.__all__
__all__ += pipeline.__all__
__all__ += tensor_map.__all__
__all__ += tma.__all__
__all__ += tma_copies.__all__
__all__ += warpgroup.__all__
