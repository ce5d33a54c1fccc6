# ruff: noqa: B007 (loops of kernels that only count)
"""`for` over range(): always a run-time loop; over anything else: unrolled by Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslNameError
from flydsl.expr.trace.context import current
from tests.unit.control_flow.running import launch, refused


def test_carried_values_are_found() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        total, product = 0, fx.Int64(1)
        for i in range(n):
            total += i * t
            product = product * 2
        out[t] = total + fx.Int32(product)

    assert launch(body, n=5) == [32, 42, 52, 62]
    assert launch(body, n=0) == [1] * 4


def test_constant_bounds_are_a_run_time_loop_too() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = t
        for i in range(0, 1000000, 1):
            assert not i.is_static() and i.dtype is fx.Int32
            x = x + 1
        out[t] = x

    assert launch(body) == [1000000, 1000001, 1000002, 1000003]


def test_start_stop_and_step() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        for i in range(t, n + 6, 3):
            x = x * 10 + i
        for i in range(2, -5):
            x = -1
        out[t] = x

    assert launch(body, n=5) == [369, 147 * 10 + 10, 258, 369]


def test_64_bit_bounds_count_in_64_bits() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = fx.Int64(0)
        for i in range(fx.Int64(1) << 40, (fx.Int64(1) << 40) + fx.Int64(n)):
            assert i.dtype is fx.Int64
            x = x + i
        for i in range(4000000000, 4000000002):
            assert i.dtype is fx.Int64
            x = x + i
        out[t] = x

    expected = sum(range(1 << 40, (1 << 40) + 3)) + 8000000001
    assert launch(body, n=3, dtype=np.int64) == [expected] * 4


def test_unsigned_bounds_of_32_bits_count_in_64() -> None:
    """From 2^31 on they are no Int32: such a loop made no turn, or one with negative numbers."""

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, far = fx.Int64(0), fx.Uint32(n)
        for i in range(0, far, 1 << 30):
            x = x + i
        for i in range(far - 2, far):
            assert i.dtype is fx.Int64
            x = x + i
        for i in range(fx.Uint32(3)):
            assert i.dtype is fx.Int32
        out[t] = x

    far = 2**32 - 5
    assert launch(body, n=-5, dtype=np.int64) == [sum(range(0, far, 1 << 30)) + 2 * far - 3] * 4


@pytest.mark.parametrize("step", [-1, -2, 1])
def test_more_turns_than_there_are_positive_numbers(step: int) -> None:
    """Of known steps and others, down from the largest number or up from the least; such loops made no turn."""

    def body(out: fx.Tensor, n: fx.Int32):
        known, other, fixed = (fx.Int32(0) for _ in range(3))
        for i in range(n, -n - step, step):
            known = i - n
            if i == n + 3 * step:
                break
        for i in range(n, -n - step, step * fx.Int32(fx.block_dim.x)):
            other = i - n
            if i == n + 3 * step:
                break
        for i in range(2**31 - 1, -(2**31), -1):
            fixed = i
            if i < 2**31 - 4:
                break
        out[0] = known
        out[1] = other
        out[2] = fixed

    n = -(2**31) + 1 if step > 0 else 2**31 - 1
    assert launch(body, n, threads=1, size=3) == [3 * step, 3 * step, 2**31 - 5]


def test_known_bounds_at_the_end_of_64_bits() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        turns, last = 0, fx.Int64(0)
        for i in range((1 << 63) - 6, (1 << 63) - 1, 4):
            turns, last = turns + 1, i
            if turns > 9:
                break
        out[fx.thread_idx.x] = last - turns

    assert launch(body, dtype=np.int64) == [(1 << 63) - 4] * 4


def test_index_and_int_tuple_bounds() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        for i in range(fx.Index(n)):
            assert i.dtype is fx.Int32
            x += i
        shape = fx.make_shape(3, n)
        for i in range(fx.get(shape, 0)):
            x += 100
        for i in range(fx.get(shape, 1)):
            x += 1000
        out[t] = x

    assert launch(body, n=4) == [4306] * 4


def test_the_loop_variable_after_the_loop() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        i = -1
        for i in range(t):
            pass
        out[t] = i

    assert launch(body) == [-1, 0, 1, 2]


def test_a_loop_variable_not_bound_before_is_explained() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i in range(n):
            out[i] = i
        out[0] = i  # here

    refused(body, DslNameError, "'i'", "bound only inside the run-time `for`")


def test_the_body_may_assign_the_loop_variable() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        for i in range(n):
            i = i * 10
            x += i
        out[t] = x

    assert launch(body, n=4) == [60] * 4


def test_scratch_variables_are_not_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        scratch = fx.Float32(1.0)
        x = fx.Int32(scratch)
        for i in range(n):
            scratch = x + i
            x = scratch * 2
        for i in range(n):
            scratch = fx.Float32(i)
            x = x + fx.Int32(scratch)
        out[t] = x

    x = 1
    for i in range(3):
        x = (x + i) * 2
    assert launch(body, n=3) == [x + 3] * 4


def test_only_live_names_are_loop_arguments() -> None:
    found: list[int] = []

    def body(out: fx.Tensor, n: fx.Int32):
        x, y = fx.Int32(0), fx.Int32(1)
        for i in range(n):
            x = x + i
            y = x * 2
            out[i] = y
        found.append(len(current().block.last_op.operands))  # type: ignore[attr-defined]
        out[0] = x

    launch(body, size=8)
    assert found == [4], "three bounds, and x: y is not read after the loop"


def test_nested_loops_and_branches() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = 0
        for i in range(n):
            for j in range(i):
                if (i + j) % 2 == t % 2:
                    x += j
                else:
                    x -= 1
        out[t] = x

    def expected(t: int) -> int:
        return sum(j if (i + j) % 2 == t % 2 else -1 for i in range(6) for j in range(i))

    assert launch(body, n=6) == [expected(t) for t in range(4)]


def test_unrolled_loops() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x, seen = t, []
        for i in fx.range_constexpr(1, 8, 2):
            seen.append(i)
            if i == 3:
                continue
            if i == 7:
                break
            x = x + i
        else:
            raise AssertionError("left by break")
        for a, b in zip((1, 2), [t, n]):
            x += a * b
        for name in {"p": 1}:
            assert name == "p"
        assert seen == [1, 3, 5, 7]
        out[t] = x + sum([i * t for i in range(3)])

    assert launch(body, n=10) == [t + 6 + t + 20 + 3 * t for t in range(4)]


def test_a_shadowed_range_is_a_python_function() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        range = fx.range_constexpr
        x = 0
        for i in range(3):
            assert type(i) is int
            x += i
        out[fx.thread_idx.x] = x

    assert launch(body) == [3] * 4


def test_vectors_structs_and_containers_are_carried() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        v = fx.Vector.filled(4, 1, fx.Int32)
        pair, space = (t, [1.0]), SimpleNamespace(k=0)
        for i in range(n):
            v = v * 2
            pair = (pair[0] + 1, [pair[1][0] * 2.0])
            space = SimpleNamespace(k=space.k + i)
        out[t] = v[3] + pair[0] * 100 + fx.Int32(pair[1][0]) * 1000 + space.k * 100000

    assert launch(body, n=3) == [8 + (t + 3) * 100 + 8000 + 300000 for t in range(4)]


def test_a_list_changed_in_place() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        sums, table = [0, 10], {"k": [t]}
        for i in range(n):
            sums[0] += i
            sums[1] = sums[0] + sums[1]
            table["k"][0] += 1
        out[t] = sums[0] + sums[1] * 100 + table["k"][0] * 100000

    a, b = 0, 10
    for i in range(4):
        a += i
        b = a + b
    assert launch(body, n=4) == [a + b * 100 + (t + 4) * 100000 for t in range(4)]


def test_a_list_of_two_names_changed_by_either() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        inner = [2, 3]
        pair, same = [1, inner], inner
        for i in range(n):
            same[0] += i + pair[1][1]
            inner[1] += 1
        for i in range(n):
            same[1] += pair[1][0]
        out[0], out[1] = pair[1]

    assert launch(body, n=3)[:2] == [17, 57]


def test_an_else_replaces_what_the_loop_assigns() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = t
        for i in range(n):
            if i > t:
                x = i
                out[t] += x
            else:
                x = t - i
        else:
            x = 7
        out[t] += x * 10

    assert launch(body, n=3) == [73, 72, 70, 70]


def test_a_fragment_is_memory() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        fragment = fx.make_rmem_tensor(fx.make_layout(2, 1), fx.Int32)
        fragment.fill(1)
        for i in range(n):
            fragment.store(fragment.load() * 2)
        out[t] = fragment.load()[1] + t

    assert launch(body, n=4) == [16, 17, 18, 19]


def test_explicit_state() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        for i, state in range(0, n, 1, init=[t, 0.5]):
            assert i.dtype is fx.Index and isinstance(state, list)
            a, b = state
            a = a + fx.Int32(i)
            b = b * 2.0
            results = yield [a, b]
        assert isinstance(results, list)
        out[t] = results[0] + fx.Int32(results[1]) * 100

    assert launch(body, n=4) == [6 + t + 800 for t in range(4)]


def test_explicit_state_with_constant_bounds_runs_and_keeps_init() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        for i, state in range(0, 15, 1, init=[fx.Int32(1)]):
            result = yield [state[0] + fx.Int32(i)]
        assert result.dtype is fx.Int32, "one value comes back bare"
        out[t] = result

    assert launch(body) == [1 + sum(range(15))] * 4


def test_explicit_state_without_results_and_unpacked() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        total = 0
        for i, (a, b) in range(n, init=(1, t)):
            total = total + a
            yield [a + 1, b]
        out[t] = total

    assert launch(body, n=4) == [10] * 4


def test_explicit_state_of_vectors_and_raw_values() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        v = fx.Vector.filled(2, 3, fx.Int32)
        for i, [a, b] in range(n, init=[v.ir_value(), t.ir_value()]):
            r = yield [a + a, b + 1]
        out[t] = r[0][1] + r[1]

    assert launch(body, n=3) == [24 + t + 3 for t in range(4)]


def test_nested_explicit_loops() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        for i, outer in range(n, init=[0]):
            for j, inner in range(i, init=[outer[0]]):
                x = yield [inner[0] + 1]
            y = yield [x + 100]
        out[t] = y

    assert launch(body, n=4) == [6 + 400] * 4


@pytest.mark.parametrize("turns", [0, 1, 4, 5])
def test_lists_change_places(turns: int) -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        rows, a, b = [[1, 2], [3, 4]], [5], [6]
        for i in range(n):
            rows[0][:], rows[1][:] = rows[1][:], rows[0][:]
            a, b = b, a
        out[0] = rows[0][1] * 1000 + rows[1][1] * 100 + a[0] * 10 + b[0]

    assert launch(body, turns)[0] == (4265 if turns % 2 else 2456)
