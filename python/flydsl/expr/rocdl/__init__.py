"""``fx.rocdl``: what only AMD GPUs have."""

from __future__ import annotations

from flydsl.expr.atoms.hardware_enums import SyncScope
from flydsl.expr.rocdl import cdna3, cdna4, cdna5, cluster, functions, rdna3, rdna4, tdm_ops, universal
from flydsl.expr.rocdl.cluster import cluster_workgroup_id_x, cluster_workgroup_id_y, cluster_workgroup_id_z
from flydsl.expr.rocdl.functions import *
from flydsl.expr.rocdl.matrix.mma import MFMA, WMMA, MFMAScale, WMMAScale
from flydsl.expr.rocdl.memory.tdm import TDM, make_tdm_atom
from flydsl.expr.rocdl.tdm_ops import tensor_load_to_lds, tensor_store_from_lds

__all__ = [
    "MFMA", "TDM", "WMMA", "MFMAScale", "SyncScope", "WMMAScale", "cdna3", "cdna4", "cdna5", "cluster",
    "cluster_workgroup_id_x", "cluster_workgroup_id_y", "cluster_workgroup_id_z", "make_tdm_atom", "rdna3", "rdna4",
    "tdm_ops", "tensor_load_to_lds", "tensor_store_from_lds", "universal",
]  # fmt: skip
__all__ += functions.__all__
