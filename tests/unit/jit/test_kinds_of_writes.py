"""Every way in which a kernel writes an array: found while compiling, and its source still read when read-only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslValueError
from flydsl.expr import buffer_ops, mem_ops
from flydsl.expr.rocdl import tdm_ops
from tests.support import random_data
from tests.unit.nvvm.running import Shared, launcher

THREADS = 32
SHAPE = (8, 16)
nvvm, rocdl = fx.nvvm, fx.rocdl

# Bodies: each copies an int32 matrix of 128 numbers, or adds it to zeros; `wanted` is what the output holds then.


def element(a: fx.Tensor, b: fx.Tensor) -> None:
    t = fx.thread_idx.x
    for i in fx.range_constexpr(4):
        b[t // 4, t % 4 * 4 + i] = a[t // 4, t % 4 * 4 + i]


def branch(a: fx.Tensor, b: fx.Tensor) -> None:
    t = fx.thread_idx.x
    for row in range(t, 8, 32):
        for i in range(16):
            if a[row, i] != b[row, i]:
                b[row, i] = a[row, i]


def rows_of_four(m: Any) -> Any:
    return fx.logical_divide(fx.make_view(fx.get_iter(m), fx.make_layout(128, 1)), fx.make_layout(4, 1))


def copy_through(atom: Any, source: Any, target: Any, other: Any = None) -> None:
    """Four numbers a thread, through registers."""
    t = fx.thread_idx.x
    held = fx.make_rmem_tensor(4, fx.Int32)
    fx.copy_atom_call(atom, rows_of_four(source)[None, t], held)
    fx.copy_atom_call(other or atom, held, rows_of_four(target)[None, t])


def vectors(a: fx.Tensor, b: fx.Tensor) -> None:
    copy_through(fx.make_copy_atom(fx.UniversalCopy128b(), fx.Int32), a, b)


def predicate(a: fx.Tensor, b: fx.Tensor) -> None:
    t = fx.thread_idx.x
    held, inside = fx.make_rmem_tensor(4, fx.Int32), fx.make_rmem_tensor(1, fx.Boolean)
    inside[0] = t < 32
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Int32)
    fx.copy(atom, rows_of_four(a)[None, t], held)
    fx.copy(atom, held, rows_of_four(b)[None, t], pred=inside)


def pointer(a: fx.Tensor, b: fx.Tensor) -> None:
    source, target = fx.get_iter(a), fx.get_iter(b) + 4 * fx.thread_idx.x
    for i in fx.range_constexpr(4):
        target[i] = source[4 * fx.thread_idx.x + i]


def moving_pointer(a: fx.Tensor, b: fx.Tensor) -> None:
    source, target = fx.get_iter(a) + 4 * fx.thread_idx.x, fx.get_iter(b) + 4 * fx.thread_idx.x
    for _ in range(4):
        target.store(source.load())
        source = source + 1
        target = target + 1


def chosen_pointer(a: fx.Tensor, b: fx.Tensor) -> None:
    target = fx.get_iter(b)
    if fx.thread_idx.x >= 16:
        target = target + 64
    for i in fx.range_constexpr(4):
        target[fx.thread_idx.x % 16 * 4 + i] = a[fx.thread_idx.x // 4, fx.thread_idx.x % 4 * 4 + i]


def global_memory(a: fx.Tensor, b: fx.Tensor) -> None:
    place = 4 * fx.thread_idx.x
    mem_ops.global_store(mem_ops.global_load(fx.get_iter(a), place, vec_width=4), fx.get_iter(b), place)


def atomic(a: fx.Tensor, b: fx.Tensor) -> None:
    for i in fx.range_constexpr(4):
        mem_ops.atomic_add(fx.get_iter(b), mem_ops.global_load(fx.get_iter(a), 4 * fx.thread_idx.x + i),
                           4 * fx.thread_idx.x + i)  # fmt: skip


# AMD -----------------------------------------------------------------------------------------------------------------


def buffer(a: fx.Tensor, b: fx.Tensor) -> None:
    copy_through(
        fx.make_copy_atom(rocdl.BufferCopy(128), fx.Int32), rocdl.make_buffer_tensor(a), rocdl.make_buffer_tensor(b)
    )


def raw_buffer(a: fx.Tensor, b: fx.Tensor) -> None:
    source, target = buffer_ops.create_buffer_resource(a), buffer_ops.create_buffer_resource(b)
    place = 4 * fx.thread_idx.x
    buffer_ops.buffer_store(buffer_ops.buffer_load(source, place, vec_width=4, dtype=fx.Int32), target, place)


def buffer_atomic(a: fx.Tensor, b: fx.Tensor) -> None:
    target = buffer_ops.create_buffer_resource(b)
    for i in fx.range_constexpr(4):
        at = 4 * fx.thread_idx.x + i
        mem_ops.buffer_atomic_add(mem_ops.global_load(fx.get_iter(a), at), target, at)


def tensor_mover(a: fx.Tensor, b: fx.Tensor) -> None:
    inside = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 128]).peek().view(fx.make_layout((8, 16), (16, 1)))
    source, target = (fx.make_view(fx.get_iter(m), fx.make_layout((8, 16), (16, 1))) for m in (a, b))
    fx.copy(rocdl.make_tdm_atom(source, [8, 16], num_warps=1), source, inside)
    tdm_ops.tensor_wait(0)
    fx.barrier()
    fx.copy(rocdl.make_tdm_atom(target, [8, 16], num_warps=1), inside, target)
    tdm_ops.tensor_wait(0)


# NVIDIA --------------------------------------------------------------------------------------------------------------


def hinted(a: fx.Tensor, b: fx.Tensor) -> None:
    copy_through(
        fx.make_copy_atom(nvvm.CachedCopy(128, "no_allocate"), fx.Int32), a, b,
        fx.make_copy_atom(nvvm.CachedCopy(128, "global"), fx.Int32),
    )  # fmt: skip


def async_loads(a: fx.Tensor, b: fx.Tensor) -> None:
    t, words = fx.thread_idx.x, Shared().words(128)
    place = fx.logical_divide(words, fx.make_layout(4, 1))[None, t]
    fx.copy_atom_call(fx.make_copy_atom(nvvm.CpAsync(128), fx.Int32), rows_of_four(a)[None, t], place)
    nvvm.cp_async_commit_group()
    nvvm.cp_async_wait_group(0)
    fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy128b(), fx.Int32), place, rows_of_four(b)[None, t])


def tma(op: str | None) -> Callable[..., None]:
    def body(source: Any, target: Any) -> None:
        shared = Shared()
        place, barrier = shared.pointer(128, fx.Int32), shared.barriers()
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
            nvvm.prefetch_tensor_map(source)
            nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
            nvvm.tma_load(source, (0, 0), place, barrier)
            nvvm.mbarrier_wait(barrier, 0)
            if fx.const_expr(op is None):
                nvvm.tma_store(target, place, (0, 0))
            else:
                nvvm.tma_reduce(target, place, (0, 0), op)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)

    return body


def maps(a: Any, b: Any) -> tuple[Any, ...]:
    return nvvm.make_tensor_map(a, SHAPE, "none"), nvvm.make_tensor_map(b, SHAPE, "none")


def bulk(a: fx.Tensor, b: fx.Tensor) -> None:
    shared = Shared()
    words, barrier = shared.words(128), shared.barriers()
    if fx.thread_idx.x == 0:
        nvvm.mbarrier_init(barrier, 1)
        nvvm.fence_mbarrier_init()
        nvvm.mbarrier_arrive_expect_tx(barrier, 512)
        nvvm.bulk_prefetch(fx.get_iter(a), 512)
        nvvm.bulk_load(fx.get_iter(a), words, 512, barrier)
        nvvm.mbarrier_wait(barrier, 0)
        nvvm.bulk_store(words, b, fx.Int32(512))
        nvvm.tma_commit_group()
        nvvm.tma_wait_group(0)


@dataclass(frozen=True)
class Kind:
    """A body, the target it runs on, and how its tensors become maps."""

    arch: str
    body: Callable[..., None]
    maps: Callable[..., tuple[Any, ...]] | None = None


EVERYWHERE = (
    element, branch, vectors, predicate, pointer, moving_pointer, chosen_pointer, global_memory, atomic,
)  # fmt: skip
KINDS = {
    **{f"{body.__name__} on {arch}": Kind(arch, body) for body in EVERYWHERE for arch in ("gfx942", "sm_90a")},
    **{f"{body.__name__} on {arch}": Kind(arch, body) for body in (buffer, raw_buffer, buffer_atomic)
       for arch in ("gfx942", "gfx1201", "gfx1250")},
    "tensor_mover": Kind("gfx1250", tensor_mover),
    "hinted": Kind("sm_90a", hinted),
    "async_loads": Kind("sm_80", async_loads),
    "tma store": Kind("sm_90a", tma(None), maps),
    **{f"tma reduce {op}": Kind("sm_90a", tma(op), maps) for op in ("add", "min", "max")},
    "bulk": Kind("sm_90a", bulk),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_output_is_written_and_the_input_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS[name]
    monkeypatch.setenv("ARCH", kind.arch)
    function = launcher(kind.body, 2, threads=THREADS, maps=kind.maps)
    a = random_data.generator().integers(1, 1000, SHAPE, np.int32)
    a.flags.writeable = False
    lowest = "min" in name
    b = np.full(SHAPE, 2000 if lowest else 0, np.int32)
    bound = flyc.compile(function, a, b)
    # A matrix is four numbers of the argument block: its address, two extents, a stride.
    assert [(number, known) for number, known, _ in bound.artifact.writes] == [(4, True)]
    for call in (function, function, bound):
        b[:] = 2000 if lowest else 0
        call(a, b)
        np.testing.assert_array_equal(b, a)
    b[:] = 5
    b.flags.writeable = False
    for call in (function, bound):
        with pytest.raises(DslValueError, match=r"'b' of .*the array is read-only, and the code writes it"):
            call(a, b)
    assert (b == 5).all()
