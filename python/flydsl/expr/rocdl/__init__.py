"""``fx.rocdl``: what only AMD GPUs have."""

from __future__ import annotations

from flydsl.expr.hardware_enums import SyncScope
from flydsl.expr.rocdl import (
    arithmetic,
    buffer,
    cdna3,
    cdna4,
    cdna5,
    cluster,
    copies,
    lanes,
    lds_moves,
    mfma_intrinsics,
    raw_buffers,
    rdna3,
    rdna4,
    scaled_conversions,
    scheduling,
    tdm_ops,
)
from flydsl.expr.rocdl.arithmetic import *
from flydsl.expr.rocdl.buffer import *
from flydsl.expr.rocdl.cluster import cluster_workgroup_id_x, cluster_workgroup_id_y, cluster_workgroup_id_z
from flydsl.expr.rocdl.copies import *
from flydsl.expr.rocdl.lanes import *
from flydsl.expr.rocdl.lds_moves import *
from flydsl.expr.rocdl.mfma_intrinsics import *
from flydsl.expr.rocdl.mma import MFMA, WMMA, MFMAScale, WMMAScale
from flydsl.expr.rocdl.raw_buffers import *
from flydsl.expr.rocdl.scaled_conversions import *
from flydsl.expr.rocdl.scheduling import *
from flydsl.expr.rocdl.tdm import TDM, make_tdm_atom
from flydsl.expr.rocdl.tdm_ops import tensor_load_to_lds, tensor_store_from_lds

__all__ = [
    "MFMA", "TDM", "WMMA", "MFMAScale", "SyncScope", "WMMAScale", "cdna3", "cdna4", "cdna5", "cluster",
    "cluster_workgroup_id_x", "cluster_workgroup_id_y", "cluster_workgroup_id_z", "make_tdm_atom", "rdna3", "rdna4",
    "tdm_ops", "tensor_load_to_lds", "tensor_store_from_lds",
]  # fmt: skip
__all__ += arithmetic.__all__
__all__ += buffer.__all__
__all__ += copies.__all__
__all__ += lanes.__all__
__all__ += lds_moves.__all__
__all__ += mfma_intrinsics.__all__
__all__ += raw_buffers.__all__
__all__ += scaled_conversions.__all__
__all__ += scheduling.__all__
