"""Passes by name on a module built by hand."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.tools.pass_selection import Step, UnknownPassError, parse_pipeline


class PassManager:
    """``PassManager.parse("builtin.module(canonicalize)").run(module.operation)``."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps

    @staticmethod
    def parse(pipeline: str, context: Any = None) -> PassManager:
        """Return the passes that a pipeline names, as `fly-opt` reads it."""
        try:
            return PassManager(parse_pipeline(pipeline))
        except UnknownPassError as error:
            raise DslValueError(str(error)) from error

    def run(self, operation: Any) -> None:
        """Run them, one after the other."""
        for step in self._steps:
            step.run(operation.operation._op)
