"""The object code of the sanitizers' checker (`sanitizer.ll`)."""

from __future__ import annotations

from importlib import resources

from flydsl.codegen.llvm_build import emit_object


def checker_object() -> bytes:
    """The checker compiled for this machine."""
    return emit_object(resources.files("flydsl.codegen").joinpath("sanitizer.ll").read_text())
