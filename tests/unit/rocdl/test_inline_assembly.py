"""AMD's inline assembly on the virtual GPU: what does nothing there runs, anything else is refused with its line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir.dialects import llvm
from flydsl.base.errors import LoweringError


def assembly(text: str, constraints: str = "", *operands: Any) -> Any:
    """Assembly whose results are of the operands' types where a constraint names one."""
    values = [operand.ir_value() for operand in operands]
    types = [value.type for value in values][: constraints.count("=")]
    kind = None if not types else types[0] if len(types) == 1 else llvm.StructType.get_literal(types)
    return llvm.inline_asm(kind, values, text, constraints, has_side_effects=True)


def run(body: Any, threads: int = 64) -> np.ndarray[Any, Any]:
    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = body(fx.thread_idx.x)

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        kernel(out).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    out = np.full(threads, -1, np.int32)
    launch(out)
    return out


@pytest.mark.parametrize(
    "text",
    ["", "s_nop 0", "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt lgkmcnt(0)\n\ts_nop 1", "s_wait_dscnt 0x0; s_setprio 3",
     "buffer_inv sc1 // and no more"],
)  # fmt: skip
def test_what_only_waits_does_nothing(text: str) -> None:
    def body(t: Any) -> Any:
        assembly(text)
        return fx.Int32(t)

    np.testing.assert_array_equal(run(body), np.arange(64))


def test_a_fence_for_the_optimiser_gives_its_operand() -> None:
    def body(t: Any) -> Any:
        return fx.Int32(assembly("", "=v,0", fx.Int32(t) * 3)) + 1

    np.testing.assert_array_equal(run(body), np.arange(64) * 3 + 1)


@pytest.mark.parametrize("text", ["s_barrier", "s_waitcnt lgkmcnt(0)\n\ts_barrier"])
def test_a_barrier_is_one(text: str) -> None:
    """Without it the threads of a loop would read what later ones have not written yet."""

    def body(t: Any) -> Any:
        words = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64, 16]).peek()
        view = words.view(fx.make_layout(64, 1))
        view[t] = fx.Int32(t)
        assembly(text)
        return view[63 - t]

    np.testing.assert_array_equal(run(body), np.arange(64)[::-1])


@pytest.mark.parametrize("text", ["v_add_u32 $0, $0, 1", "s_barrier\nv_nop 1", "s_nop 0\nfoo bar", ".byte 1"])
def test_anything_else_is_refused_with_its_line(text: str) -> None:
    def body(t: Any) -> Any:
        assembly(text)
        return fx.Int32(t)

    with pytest.raises(LoweringError, match="has no form on the virtual GPU") as refused:
        run(body)
    assert refused.value.location is not None and refused.value.location.file == __file__
    assert text.split()[0] in str(refused.value)


def test_a_result_that_is_no_operand_is_refused() -> None:
    with pytest.raises(LoweringError, match="v_mov_b32"):
        run(lambda t: fx.Int32(assembly("v_mov_b32 $0, $1", "=v,v", fx.Int32(t))))
    with pytest.raises(LoweringError, match="no form"):
        run(lambda t: fx.Int32(assembly("", "=v,v", fx.Int32(t))))
