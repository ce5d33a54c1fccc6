"""The rewriting of control flow, under the name older code imports it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.compiler.rewrite.rewriter import rewritten


class ASTRewriter:
    """Turns the control flow of kernel functions into traced control flow."""

    @staticmethod
    def transform(func: Callable[..., Any]) -> Callable[..., Any]:
        """The function to trace in the place of ``func``."""
        return rewritten(func)


__all__ = ["ASTRewriter"]
