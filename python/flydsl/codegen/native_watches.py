"""The object code of `native_watches.ll`, which compares what compiled code was made from with what is there now."""

from __future__ import annotations

from importlib import resources

from flydsl.codegen.llvm_build import emit_object


def watches_object() -> bytes:
    """The code for this machine; `compiler/native_watches.py` loads it and writes its tables."""
    return emit_object(resources.files("flydsl.codegen").joinpath("native_watches.ll").read_text())
