"""Backends by name: what a compilation asks of the family of a target. `get_backend("rocm")` gives one."""

from __future__ import annotations

from flydsl.compiler.backends import cuda, rocm
from flydsl.compiler.backends.base import (
    BaseBackend,
    GPUTarget,
    compile_backend_name,
    current_target,
    get_backend,
    register_backend,
)
from flydsl.compiler.backends.base import _make_backend as _make_backend

__all__ = [
    "BaseBackend", "GPUTarget", "compile_backend_name", "cuda", "current_target", "get_backend", "register_backend",
    "rocm",
]  # fmt: skip
