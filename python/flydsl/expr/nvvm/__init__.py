"""``fx.nvvm``: what only NVIDIA GPUs have."""

from __future__ import annotations

from flydsl.expr.nvvm.arithmetic import *
from flydsl.expr.nvvm.barriers import *
from flydsl.expr.nvvm.cluster_memory import *
from flydsl.expr.nvvm.copies import *
from flydsl.expr.nvvm.matrix_moves import *
from flydsl.expr.nvvm.mma import MmaSync, Wgmma
from flydsl.expr.nvvm.pipeline import *
from flydsl.expr.nvvm.tensor_map import *
from flydsl.expr.nvvm.tma import *
from flydsl.expr.nvvm.warpgroup import *
