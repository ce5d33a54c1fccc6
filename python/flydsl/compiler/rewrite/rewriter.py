"""Rewriting kernel functions so that run-time control flow is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def rewritten(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function to trace."""
    return func
