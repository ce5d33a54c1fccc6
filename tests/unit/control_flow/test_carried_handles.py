"""Tensors, pointers, coordinates and objects of the user's own types cross run-time regions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.control_flow.running import launch


def test_a_tensor_is_chosen_at_run_time() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        view = a
        if t > 1:
            view = b
        out[t] = view[t] + (a if t % 2 == 0 else b)[0]

    @flyc.jit
    def host(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
        kernel(a, b, out).launch(grid=(1, 1, 1), block=(4, 1, 1))

    a, b, out = np.arange(1, 5, dtype=np.int32), np.arange(101, 105, dtype=np.int32), np.zeros(4, np.int32)
    host(a, b, out)
    assert out.tolist() == [1 + 1, 2 + 101, 103 + 1, 104 + 101]


def test_fragments_swap_their_roles_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        read = fx.make_rmem_tensor(fx.make_layout(2, 1), fx.Int32)
        write = fx.make_rmem_tensor(fx.make_layout(2, 1), fx.Int32)
        read.fill(1)
        write.fill(10)
        for _ in range(n):
            write.store(read.load() + write.load())
            read, write = write, read
        out[t] = read.load()[1]

    a, b = 1, 10
    for _ in range(5):
        a, b = a + b, a
    assert launch(body, n=5) == [a] * 4


def test_a_pointer_moves_in_a_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        pointer = fx.get_iter(out)
        for i in range(n):
            pointer.store(i * 7)
            pointer = pointer + 1

    assert launch(body, n=4, threads=1, size=4) == [0, 7, 14, 21]


def test_a_coordinate_is_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        place = fx.make_coord(t, n)
        if t > 1:
            place = fx.make_coord(n, t)
        out[t] = fx.get_scalar(fx.get(place, 0)) * 10 + fx.get_scalar(fx.get(place, 1))

    assert launch(body, n=5) == [5, 15, 52, 53]


class Complex:
    """A type of the user's: two numbers that travel together."""

    def __init__(self, re: Any, im: Any) -> None:
        self.re, self.im = fx.Float32(re), fx.Float32(im)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.re.ir_value(), self.im.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Complex:
        return cls(*values)


def test_a_type_of_the_user_is_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        z, turn = Complex(1.0, 0.0), Complex(0.0, 1.0)
        for i in range(n):
            if i >= t:
                z = z * turn
        out[t] = fx.Int32(z.re) * 10 + fx.Int32(z.im)

    powers = [1, 1j, -1, -1j]
    expected = [powers[(5 - t) % 4] for t in range(4)]
    assert launch(body, n=5) == [int(complex(z).real) * 10 + int(complex(z).imag) for z in expected]


def test_launches_under_run_time_control_flow() -> None:
    @flyc.kernel
    def add(out: fx.Tensor, value: fx.Int32):
        t = fx.thread_idx.x
        out[t] = out[t] + value

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        total = 0
        for i in range(n):
            total += i
            if i % 2 == 1:
                add(out, total).launch(grid=(1, 1, 1), block=(4, 1, 1))

    out = np.zeros(4, np.int32)
    host(out, 5)
    assert out.tolist() == [1 + 6] * 4


class Doubled(NamedTuple):
    """A pair whose derived class computes with what it is given."""

    number: Any
    place: Any


class DoubledPair(Doubled):
    def __new__(cls, number: Any, place: Any) -> DoubledPair:
        return super().__new__(cls, number * 2, place)


class DoubledList(list[Any]):
    def __init__(self, items: Any) -> None:
        super().__init__([2 * item for item in items])


class Tenfold(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 10 * dict.__getitem__(self, key)


class Labelled(tuple[Any, ...]):
    label: int


def test_constructors_of_containers_are_called_once() -> None:
    """Neither the edge of a branch or loop nor a kernel's argument has a class compute with its items again."""

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        pair, items, entries = DoubledPair(n, 0), DoubledList([n]), Tenfold(a=n)
        if t > 1:
            items, entries = DoubledList([t]), Tenfold(a=t)
        for i in range(n):
            pair = pair._replace(place=pair.place + i)
        out[t] = pair.number + pair.place * 100 + items[0] * 10_000 + entries["a"] * 1_000_000

    assert launch(body, n=4) == [40_080_608, 40_080_608, 20_040_608, 30_060_608]


def test_arguments_of_kernels_keep_classes_and_attributes() -> None:
    label = Labelled([7])
    label.label = 3

    @flyc.kernel
    def kernel(out: fx.Tensor, pair: Any, items: Any, entries: Any, labelled: fx.Constexpr[Labelled]):
        out[0], out[1], out[2], out[3] = pair.number, items[0], entries["a"], labelled.label + labelled[0]

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        kernel(out, DoubledPair(n, 0), DoubledList([n]), Tenfold(a=n), label).launch(block=(1, 1, 1))

    out = np.zeros(4, np.int32)
    host(out, 3)
    assert out.tolist() == [6, 6, 30, 10]
