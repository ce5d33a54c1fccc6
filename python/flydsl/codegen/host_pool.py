"""The object code of the host device's thread pool (`host_pool.ll`)."""

from __future__ import annotations

from importlib import resources

from flydsl.codegen.llvm_build import emit_object


def pool_object() -> bytes:
    """The pool compiled for this machine; `runtime/host_pool.py` loads and starts it."""
    return emit_object(resources.files("flydsl.codegen").joinpath("host_pool.ll").read_text())
