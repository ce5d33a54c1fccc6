"""Small kernels for the tests of `fx.nvvm`: run on the virtual GPU, or as PTX text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.cuda import compile as cuda_compile
from flydsl.compiler.tracing.trace import trace
from flydsl.passes.pipeline import stage_a
from flydsl.target.target import parse_target
from tests.support.mma_code import adapted_arguments

Array = np.ndarray[Any, Any]


def launcher(
    body: Callable[..., None], count: int, threads: int = 32, grid: Any = 1, cluster: Any = None,
    maps: Callable[..., tuple[Any, ...]] | None = None,
) -> Any:  # fmt: skip
    """A jit function of ``count`` tensors that launches ``body``; ``maps(*tensors)`` makes what the kernel gets."""

    def launch(*tensors: Any) -> None:
        given = tensors if maps is None else maps(*tensors)
        kernel = flyc.kernel(_fixed(body, len(given)))
        kernel(*given).launch(grid=grid, block=(threads, 1, 1), cluster=cluster)

    if count == 1:

        @flyc.jit
        def one(a: fx.Tensor) -> None:
            launch(a)

        return one
    if count == 2:

        @flyc.jit
        def two(a: fx.Tensor, b: fx.Tensor) -> None:
            launch(a, b)

        return two

    @flyc.jit
    def three(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor) -> None:
        launch(a, b, c)

    return three


def _fixed(body: Callable[..., None], count: int) -> Callable[..., None]:
    """The body itself: kernels want named parameters, which a body has."""
    assert body.__code__.co_argcount == count, (body, count)
    return body


class Where:
    """Where kernels run; `tests/gpu` turns ``gpu`` on to run the same tests on a real one."""

    gpu = False


def run(body: Callable[..., None], *arrays: Any, **launch: Any) -> None:
    """Run a kernel body on arrays."""
    function = launcher(body, len(arrays), **launch)
    if not Where.gpu:
        function(*arrays)
        return
    with flyc.current_device().arrays(*arrays) as there:
        function(*there)


def llvm_text(function: Any, args: tuple[Any, ...], arch: str) -> str:
    target = parse_target(arch)
    module, _ = trace(function.func, adapted_arguments(function, args), target)
    for step in stage_a(target.backend, ()):
        step.run(module)
    module.verify()
    return cuda_compile.device_text(module, target)


def ptx(function: Any, args: tuple[Any, ...], arch: str = "sm_90a") -> str:
    """PTX of a jit function's kernels."""
    return cuda_compile.ptx_of(llvm_text(function, args, arch), parse_target(arch), 2)


class Shared:
    """The shared memory of a kernel, allocated piece by piece."""

    def __init__(self) -> None:
        self.allocator = fx.SharedAllocator()

    def words(self, count: int, dtype: Any = fx.Int32, align: int = 16) -> Any:
        """A tensor of that many elements."""
        return self.allocator.allocate(fx.Array[dtype, count, align]).peek().view(fx.make_layout(count, 1))

    def pointer(self, count: int, dtype: Any, align: int = 1024) -> Any:
        return self.allocator.allocate(fx.Array[dtype, count, align]).ptr

    def barriers(self, count: int = 1) -> Any:
        """A pointer to that many mbarriers."""
        return self.allocator.allocate(fx.Array[fx.Int64, count]).ptr
