"""Backends by name: what a compilation asks of the family of a target. `get_backend("rocm")` gives one."""

from __future__ import annotations

from flydsl.compiler.backends.base import BaseBackend, GPUTarget
from flydsl.compiler.backends.registry import _make_backend as _make_backend
from flydsl.compiler.backends.registry import compile_backend_name, current_target, get_backend, register_backend

__all__ = ["BaseBackend", "GPUTarget", "compile_backend_name", "current_target", "get_backend", "register_backend"]
