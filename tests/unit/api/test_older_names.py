"""Names of the public documentation that no other test happens to use, executed on the host device.

`test_api_names.py` sees to it that every documented name is used somewhere; what is used nowhere else is used here.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.compiler import jit_argument, jit_function, kernel_function, protocol
from flydsl.runtime import device
from flydsl.utils.env import EnvManager


def run(kernel: Callable[..., Any], *arrays: Any, threads: int = 4) -> None:
    """Launch a kernel over two arrays with one block."""
    made = flyc.kernel(kernel)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor) -> None:
        made(x, out).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    launch(*arrays)


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", flydsl.__version__)


def test_classes_behind_the_decorators() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = 1.0

    made: list[Any] = []

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        made.append(kernel(out))
        made[0].launch(grid=(1, 1, 1), block=(4, 1, 1))

    out = np.zeros(4, np.float32)
    launch(out)
    assert out.tolist() == [1, 1, 1, 1]
    assert isinstance(kernel, kernel_function.KernelFunction) and isinstance(launch, jit_function.JitFunction)
    assert isinstance(made[0], kernel_function.KernelLauncher)


def test_adaptors() -> None:
    adaptor = flyc.from_dlpack(np.zeros((4, 8), np.float32)).mark_layout_dynamic()
    assert isinstance(adaptor, jit_argument.TensorAdaptor) and isinstance(adaptor, jit_argument.DLTensorAdaptor)


class Count(protocol.JitArgument):
    """An argument with the older protocol: types, and pointers to the numbers."""

    def __init__(self, number: int) -> None:
        self.number = ctypes.c_int32(number)

    def __get_ir_types__(self) -> list[Any]:
        return [fx.T.i32]

    def __cache_signature__(self) -> Any:
        return "count"

    def __c_abi_spec__(self) -> list[tuple[str, int]]:
        return [("i", self.number.value)]

    def __get_c_pointers__(self) -> list[Any]:
        return [ctypes.cast(ctypes.pointer(self.number), ctypes.c_void_p)]


flyc.JitArgumentRegistry.register_jit_arg(Count, fx.Int32)


def test_the_protocol_of_arguments() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, count: fx.Int32) -> None:
        out[fx.thread_idx.x] = count

    @flyc.jit
    def launch(out: fx.Tensor, count: Any) -> None:
        kernel(out, count).launch(grid=(1, 1, 1), block=(4, 1, 1))

    out = np.zeros(4, np.int32)
    launch(out, Count(7))
    assert out.tolist() == [7] * 4
    assert isinstance(Count(1), protocol.JitArgument) and not isinstance(3, protocol.JitArgument)


def test_kinds_of_handles() -> None:
    swizzled = fx.make_composed_layout(fx.static(fx.SwizzleType.get(2, 0, 2)), fx.make_layout((4, 4), (4, 1)))
    assert isinstance(swizzled, fx.ComposedLayout) and str(swizzled) == "S<2,0,2> o 0 o (4,4):(4,1)"
    assert swizzled(1, 0) == 5
    assert isinstance(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), fx.CopyAtom)
    assert isinstance(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), fx.MmaAtom)


LAYOUT = fx.make_layout((4, 8), (8, 1))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: fx.append(fx.make_layout(4, 1), fx.make_layout(8, 4)), "(4,8):(1,4)"),
        (lambda: fx.prepend(fx.make_layout(4, 1), fx.make_layout(8, 4)), "(8,4):(4,1)"),
        (lambda: fx.append(fx.make_shape(4, 8), 2), "(4,8,2)"),
        (lambda: fx.group(fx.make_layout((2, 3, 4), (1, 2, 6)), 0, 2), "((2,3),4):((1,2),6)"),
        (lambda: fx.coalesce(fx.make_layout((2, (3, 4)), (1, (2, 6)))), "24:1"),
        (lambda: fx.make_layout(fx.make_shape(4, 8), fx.make_stride(8, 1)), "(4,8):(8,1)"),
        (lambda: fx.zip((1, 2), (3, 4)), "((1,3),(2,4))"),
        (lambda: fx.flat_divide(LAYOUT, (2, 4)), "(2,4,2,2):(8,1,16,4)"),
        (lambda: fx.tiled_divide(LAYOUT, (2, 4)), "((2,4),2,2):((8,1),16,4)"),
        (
            lambda: fx.logical_product(fx.make_layout((2, 2), (4, 1)), fx.make_layout(6, 1)),
            "((2,2),(2,3)):((4,1),(2,8))",
        ),
        (lambda: fx.zipped_product(fx.make_layout(4, 1), fx.make_layout((2, 3), (1, 2))), "(4,(2,3)):(1,(4,8))"),
        (lambda: fx.flat_product(fx.make_layout(4, 1), fx.make_layout((2, 3), (1, 2))), "(4,2,3):(1,4,8)"),
        (
            lambda: fx.block_product(fx.make_layout((4, 8), (1, 4)), fx.make_layout((2, 2), (1, 2))),
            "((4,2),(8,2)):((1,32),(4,64))",
        ),
        (
            lambda: fx.raked_product(fx.make_layout((4, 8), (1, 4)), fx.make_layout((2, 2), (1, 2))),
            "((2,4),(2,8)):((32,1),(64,4))",
        ),
        (lambda: fx.recast_layout(fx.make_layout((4, 8), (8, 1)), 16, 32), "(4,4):(4,1)"),
        (lambda: fx.recast_layout(fx.make_layout((4, 8), (8, 1)), 32, 8), "(4,32):(32,1)"),
    ],
)
def test_layout_functions(found: Callable[[], Any], expected: str) -> None:
    assert str(found()) == expected


def test_older_arithmetic_in_a_kernel() -> None:
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.gpu.thread_idx.x
        value = fx.arith.addf(fx.arith.mulf(x[t], x[t]), fx.Float32(1.0))
        small = fx.cmpf("olt", x[t], fx.Float32(2.0))
        first = fx.cmpi(fx.arith.CmpIPredicate.slt, t, fx.Int32(2))
        out[t] = fx.Float32(value)
        out[t + 4] = (fx.Boolean(small) & fx.Boolean(first)).select(1.0, 0.0)

    x, out = np.array([1.0, 3.0, 1.5, 4.0], np.float32), np.zeros(8, np.float32)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, [*(x * x + 1), 1, 0, 0, 0])


def test_older_indices_and_shuffle() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.Int32(fx.gpu.thread_id("x"))
        block = fx.Int32(fx.gpu.block_id("x"))
        other = fx.gpu.ShuffleOp(x[t].ir_value(), fx.Int32(1).ir_value(), fx.Int32(32).ir_value(), mode="xor")
        out[t + 32 * block] = fx.Float32(other.shuffleResult) + fx.gpu.block_idx.x

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor) -> None:
        kernel(x, out).launch(grid=(2, 1, 1), block=(32, 1, 1))

    x, out = np.arange(32, dtype=np.float32), np.zeros(64, np.float32)
    launch(x, out)
    swapped = x[np.arange(32) ^ 1]
    np.testing.assert_array_equal(out, [*swapped, *(swapped + 1)])


def test_copies_of_an_mma_and_one_atom_call() -> None:
    """Copies that follow an MMA's operand layouts, and the MMA atom called by hand for each product."""

    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        atom = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        mma = fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0)))
        copy = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        t = fx.thread_idx.x
        fragments = []
        for make, partial in (
            (fx.make_tiled_copy_A, mma.make_fragment_A),
            (fx.make_tiled_copy_B, mma.make_fragment_B),
        ):
            mine = make(copy, mma).get_slice(t)
            fragment = partial(x)
            fx.copy(copy, mine.partition_S(x), mine.retile(fragment))
            fragments.append(fragment)
        a, b = fragments
        c = mma.make_fragment_C(out)
        c.fill(0)
        for m in fx.range_constexpr(fx.size(c.shape[1])):
            for n in fx.range_constexpr(fx.size(c.shape[2])):
                for k in fx.range_constexpr(fx.size(a.shape[2])):
                    d = c[None, m, n]
                    fx.mma_atom_call(atom, d, a[None, m, k], b[None, n, k], d)
        mine = fx.make_tiled_copy_C(copy, mma).get_slice(t)
        fx.copy(copy, mine.retile(c), mine.partition_D(out))

    x, out = np.arange(16, dtype=np.float32).reshape(4, 4), np.zeros((4, 4), np.float32)
    run(kernel, flyc.from_dlpack(x), flyc.from_dlpack(out))
    np.testing.assert_array_equal(out, x @ x.T)


def test_a_pointer_by_its_type() -> None:
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        registers = fx.make_ptr(
            fx.PointerType.get(fx.Float32, fx.AddressSpace.Register), [], dict_attrs={"allocSize": 4}
        )
        fragment = fx.make_view(registers, fx.make_layout(4, 1))
        fragment.fill(2.5)
        t = fx.thread_idx.x
        out[t] = x[t] * fragment[1]

    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, x * 2.5)


def test_settings_and_devices() -> None:
    debug = EnvManager("FLYDSL_DEBUG_")
    assert debug.dump_asm is False
    with knobs.scope({knobs.DEBUG_DUMP_ASM: True}):
        assert debug.dump_asm is True
    assert device.__name__ == "flydsl.runtime.device"
