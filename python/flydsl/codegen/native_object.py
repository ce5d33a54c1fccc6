"""Object code of the package's own native parts (`flydsl.native`)."""

from __future__ import annotations

from flydsl.codegen.llvm_build import emit_object
from flydsl.native import native_text


def native_object(name: str) -> bytes:
    """One of the sources compiled for this machine."""
    return emit_object(native_text(name))
