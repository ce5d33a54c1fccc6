"""The object code of `native_call.ll`, which makes a whole call from its Python arguments."""

from __future__ import annotations

from importlib import resources

from flydsl.codegen.llvm_build import emit_object


def call_object() -> bytes:
    """The code for this machine; `compiler/native_call.py` loads it and writes its plans."""
    return emit_object(resources.files("flydsl.codegen").joinpath("native_call.ll").read_text())
