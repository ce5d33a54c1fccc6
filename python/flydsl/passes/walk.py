"""Finding the functions of a module."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region

FUNCTIONS = ("func.func", "gpu.func", "llvm.func")


def functions(module: Operation) -> Iterator[Operation]:
    """Every function with a body: host functions and the kernels inside gpu modules."""
    for region in module.regions:
        for block in region.blocks:
            for op in list(block.ops):
                if op.name in FUNCTIONS:
                    if op.regions and op.regions[0].blocks:
                        yield op
                elif op.name in ("gpu.module", "builtin.module"):
                    yield from functions(op)


def function_bodies(module: Operation) -> Iterator[Region]:
    for op in functions(module):
        yield op.regions[0]
