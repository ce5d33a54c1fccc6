"""Running a kernel of one test: a body, its arrays, a launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc


def run(body: Callable[..., None], *arrays: Any, block: Any = 64, grid: Any = 1, **kernel: Any) -> None:
    """Launch ``body`` as a kernel over the arrays, which it takes in order."""
    made = flyc.kernel(body, **kernel)
    names = ", ".join(f"a{i}" for i in range(len(arrays)))
    scope: dict[str, Any] = {"made": made, "grid": grid, "block": block}
    source = f"def launch({names}):\n    made({names}).launch(grid=grid, block=block)\n"
    exec(compile(source, "<launch>", "exec"), scope)  # a jit function has no *args
    flyc.jit(scope["launch"])(*arrays)
