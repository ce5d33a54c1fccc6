"""Finding the functions of a module, and taking operations out of them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region

FUNCTIONS = ("func.func", "gpu.func", "llvm.func")


def functions(module: Operation, declared: bool = False) -> Iterator[Operation]:
    """Every function with a body: host functions and the kernels inside gpu modules.

    With ``declared``, those without one too. Given a function instead of a module, that function.
    """
    if module.name in FUNCTIONS:
        if declared or (module.regions and module.regions[0].blocks):
            yield module
        return
    for region in module.regions:
        for block in region.blocks:
            for op in list(block.ops):
                if op.name in FUNCTIONS or op.name in ("gpu.module", "builtin.module"):
                    yield from functions(op, declared)


def members(module: Operation) -> Iterator[Operation]:
    """The operations of a module and of those inside it: functions, globals, modules, and nothing in functions."""
    for region in module.regions:
        for block in region.blocks:
            for op in block.ops:
                yield op
                if op.name in ("gpu.module", "builtin.module"):
                    yield from members(op)


def function_bodies(module: Operation) -> Iterator[Region]:
    for op in functions(module):
        yield op.regions[0]


def gpu_modules(module: Operation) -> list[Operation]:
    """The gpu modules directly in a module, or the operation itself if it is one."""
    if module.name == "gpu.module":
        return [module]
    return [op for region in module.regions for block in region.blocks for op in block.ops if op.name == "gpu.module"]


def take_out(op: Operation) -> None:
    """Remove an operation; what still uses its results is about to go too."""
    op.detach()
    if any(result.first_use is not None for result in op.results):
        op.erase(safe_erase=False)
    else:  # most: there is nobody to be told
        op.drop_all_references()
