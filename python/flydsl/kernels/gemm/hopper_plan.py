"""What callers of the Hopper GEMM name of its plan, beside `hopper_matmul`: `hopper/plan.py` has it all."""

from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind, Machine, PackedKind, Problem, launch_time

__all__ = ["GemmConfig", "GemmKind", "Machine", "PackedKind", "Problem", "launch_time"]
