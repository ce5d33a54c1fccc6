"""What callers of the Hopper GEMM name of its plan, beside `hopper_matmul`: `hopper/plan.py` and `model.py` have it."""

from flydsl.kernels.gemm.hopper.model import Machine, launch_time
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, PackedKind, Problem

__all__ = ["GemmConfig", "GemmKind", "Machine", "PackedKind", "Problem", "launch_time"]
