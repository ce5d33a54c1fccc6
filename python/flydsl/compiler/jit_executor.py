"""The executor's names as kernels written for the original know them."""

from __future__ import annotations

from flydsl.compiler.outlets.compiled_function import CompiledFunction

CompiledArtifact = CompiledFunction
JITCFunction = CompiledFunction

__all__ = ["CompiledArtifact", "JITCFunction"]
