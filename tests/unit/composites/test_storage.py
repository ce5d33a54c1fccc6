"""Storage in shared memory: what is poked is peeked, field by field, and the bytes lie where C puts them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.unit.composites.launching import numbers, run

Inner = fx.Struct["a" : fx.Uint16, "b" : fx.Align[fx.Int32, 8]]


@fx.struct
class Head:
    tag: fx.Int8
    scale: fx.Float64
    inner: Inner


@fx.struct
class Tile:
    n: fx.Constexpr[int]
    head: Head
    data: fx.Array[fx.Float32, 64, 16]


def test_fields_round_trip() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(Tile["n":3])
        tile.data[t] = a[t]
        if t == 0:
            tile.head.tag.poke(-7)
            tile.head.scale.poke(2.5)
            tile.head.inner.poke(Inner(60000, 11))
        fx.barrier()
        head = tile.head.peek()
        out[t, 0] = tile.data[63 - t]
        out[t, 1] = head.tag.to(fx.Float32)
        out[t, 2] = head.scale.to(fx.Float32)
        out[t, 3] = head.inner.a.to(fx.Float32)
        out[t, 4] = tile.head.inner.b.peek().to(fx.Float32) + tile.n

    x, out = numbers(64), np.zeros((64, 5), np.float32)
    run(body, x, out)
    np.testing.assert_array_equal(out[:, 0], x[::-1])
    np.testing.assert_array_equal(out[:, 1:], np.tile(np.float32([-7, 2.5, 60000, 14]), (64, 1)))


def test_whole_structs_poke_and_peek() -> None:
    pair = fx.Struct["i" : fx.Int32, "f" : fx.Float32]

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        places = [fx.SharedAllocator().allocate(pair)]
        if t == 5:
            places[0].poke(pair(i=t * 2, f=a[t]))
        fx.barrier()
        value = places[0].peek()
        out[t] = value.f + value.i.to(fx.Float32)

    x, out = numbers(64), np.zeros(64, np.float32)
    run(body, x, out)
    np.testing.assert_allclose(out, np.full(64, x[5] + 10), rtol=1e-6)


def test_a_union_shares_its_bytes() -> None:
    both = fx.Union["f" : fx.Array[fx.Float32, 64], "i" : fx.Array[fx.Uint32, 64]]

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        place = fx.SharedAllocator().allocate(both)
        place.f[t] = a[t]
        out[t] = place.i[t]

    x, out = numbers(64), np.zeros(64, np.uint32)
    run(body, x, out)
    np.testing.assert_array_equal(out, x.view(np.uint32))


@pytest.mark.parametrize(
    "dtype", [fx.Int8, fx.Uint8, fx.Int16, fx.Float16, fx.BFloat16, fx.Int64, fx.Float64, fx.Boolean]
)
def test_every_kind_of_number_is_stored(dtype: Any) -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        place = fx.SharedAllocator().allocate(fx.Struct["pad" : fx.Int8, "v" : fx.Array[dtype, 64]])
        place.v[t] = a[t].to(dtype)
        fx.barrier()
        out[t] = place.v[63 - t].to(fx.Float32)

    x, out = np.arange(64, dtype=np.float32) % (2 if dtype is fx.Boolean else 64), np.zeros(64, np.float32)
    run(body, x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_views_and_arenas_over_any_memory() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        arena = fx.Arena(fx.get_iter(a))
        first = arena.allocate(fx.Array[fx.Float32, 16])
        rest = arena.allocate(fx.Array[fx.Float32, 16], 128)
        assert arena.allocated_bytes == 128 + 64
        view = rest.view(fx.make_layout((4, 4), (4, 1)))
        out[t] = first[t] + view[t % 4, t // 4] + fx.recast_iter(fx.Float32, arena.base_ptr)[t]

    x, out = numbers(64), np.zeros(16, np.float32)
    run(body, x, out, threads=16)
    moved = x[32:48].reshape(4, 4).T.reshape(-1)
    np.testing.assert_allclose(out, x[:16] * 2 + moved, rtol=1e-6)


def test_storage_is_usable_inside_branches_and_loops() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        place = fx.SharedAllocator().allocate(fx.Struct["pad" : fx.Int32, "v" : fx.Array[fx.Float32, 64]])
        if t < 32:
            place.v[t] = a[t]
        else:
            place.v[t] = a[t] * 2
        fx.barrier()
        total = fx.Float32(0)
        for i in range(4):
            total = total + place.v[(t + i) % 64]
        out[t] = total

    x, out = numbers(64), np.zeros(64, np.float32)
    run(body, x, out)
    stored = np.where(np.arange(64) < 32, x, x * 2)
    np.testing.assert_allclose(out, sum(np.roll(stored, -i) for i in range(4)), rtol=1e-5)


def refused(statement: Any, error: type[Exception], message: str) -> str:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        statement(fx.SharedAllocator().allocate(Tile["n":3]))

    with pytest.raises(error, match=message) as caught:
        run(body, numbers(8), numbers(8), threads=8)
    return str(caught.value)


def test_what_is_refused() -> None:
    text = refused(lambda s: s.data.poke(1), NotImplementedError, r"a whole Array\[Float32, 64, 16\] cannot be poked")
    assert "write its elements" in text
    refused(lambda s: setattr(s, "head", 1), dataclasses.FrozenInstanceError, "cannot assign to 'head'")
    refused(lambda s: s.missing, AttributeError, "has no field 'missing'; it has n, head, data, peek, poke")
    refused(lambda s: s.head[0], TypeError, "has no elements")
    refused(lambda s: s.head.poke(3), TypeError, "a Head is stored here, got int 3")
    refused(lambda s: s.data[64], IndexError, "use 0 to 63")
    refused(lambda s: fx.Storage[fx.Int32](3), TypeError, "lies at a pointer, got int 3")
    refused(lambda s: fx.Storage[Tile](s.ptr).peek(), TypeError, "the Constexpr n is not there")
    union = fx.Union["a" : fx.Int32, "b" : fx.Float32]
    text = refused(lambda s: fx.Storage[union](s.ptr).peek(), TypeError, "has no value form")
    assert "storage.field.peek()" in text
