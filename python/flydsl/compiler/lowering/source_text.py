"""The IR of what was compiled last, as the original prints it: ``%arg0`` for arguments, ``%c4_i32`` for constants."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass

if TYPE_CHECKING:
    from flydsl.compiler.tracing import trace
    from flydsl.dialects import mlir_names, xdsl_loading
else:
    mlir_names = lazy_module("flydsl.dialects.mlir_names")
    trace = lazy_module("flydsl.compiler.tracing.trace")
    xdsl_loading = lazy_module("flydsl.dialects.xdsl_loading")


@dataclass(frozen=True)
class TracedText:
    """The text of a specialisation, made again when it is asked for."""

    asked: tuple[Any, ...]
    """The function, its arguments, the target and the hints."""

    @property
    def source_ir(self) -> str:
        """The IR as traced, before any lowering."""
        xdsl_loading.load(trace)
        module, _ = trace.trace(*self.asked)
        stream = io.StringIO()
        mlir_names.MlirPrinter(stream).print_op(module)
        return stream.getvalue()
