"""Kernels in FlyDSL's style: tracing options, dispatch over functions, random numbers, struct-like values, storage."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.ast_rewriter import (
    ASTRewriter,
    CanonicalizeWhile,
    InsertEmptyYieldForSCFFor,
    ReplaceIfWithDispatch,
)
from flydsl.compiler.kernel_function import FuncLocationTracker
from flydsl.expr import meta
from flydsl.expr.utils import arith as raw
from flydsl.expr.utils import lazy_classattr, print_typst
from tests.compat.launching import run

T = fx.T


def test_tracing_options() -> None:
    assert meta.tracing_option("fastmath", "none") == "none"
    with meta.tracing_context(fastmath="contract", depth=3):
        assert meta.tracing_option("depth") == 3 and raw.current_fastmath() == "contract"
        with meta.tracing_context(depth=None):
            assert meta.tracing_option("depth", 7) is None, "an explicit None shadows what is around it"
        assert raw.resolve_fastmath("nnan") == "nnan" and raw.resolve_fastmath() == "contract"
    assert raw.current_fastmath() is None and meta.capture_user_location() is None


def test_functions_of_the_language_by_decorators() -> None:
    seen: list[Any] = []

    @meta.dsl_loc_tracing
    @meta.dsl_wrap_result(fx.Int32)
    def double(x: Any) -> Any:
        """Twice a number."""
        return raw.shli(x, 1)

    @meta.dsl_wrap_result
    def same(x: Any) -> Any:
        return x.ir_value()

    def body(out: fx.Tensor) -> None:
        seen.append((meta.tracing_option("known_block_size"), meta.capture_user_location()))
        t = fx.thread_idx.x
        out[t] = double(t) + same(t)

    out = np.zeros(64, np.int32)
    run(body, out)
    np.testing.assert_array_equal(out, np.arange(64) * 3)
    assert double.__doc__ == "Twice a number." and seen[0][0] == (64, 1, 1)
    assert "test_style_language.py" in str(seen[0][1])
    assert FuncLocationTracker(body).here() == FuncLocationTracker(body).location


def test_dispatch_over_functions() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x

        def then(names: tuple[str, ...], *values: Any) -> dict[str, Any]:
            return {"a": values[0] + 1}

        a, b = ReplaceIfWithDispatch.scf_if_dispatch(
            t < 2, then, lambda a, b: (a, b + 10), result_names=("a", "b"), result_values=(fx.Int32(0), fx.Int32(5))
        )
        out[t, 0] = a * 100 + b
        out[t, 1] = InsertEmptyYieldForSCFFor.scf_for_dispatch(
            0, t, 1, lambda i, s: s + i, result_names=("s",), result_values=(fx.Int32(0),)
        )
        out[t, 2] = CanonicalizeWhile.scf_while_dispatch(
            lambda w: w < 10, lambda w: w + t + 1, state_names=("w",), state_values=(fx.Int32(0),)
        )
        out[t, 3] = ReplaceIfWithDispatch.scf_ifexp_dispatch(t > 1, lambda: t * 2, lambda: t * 3)
        known = ReplaceIfWithDispatch.scf_if_dispatch(True, lambda a: a + 1, result_names=("a",), result_values=(7,))
        assert known == 8, "a condition known while tracing runs one branch in Python"

    out = np.zeros((4, 4), np.int32)
    run(body, out, block=4)
    np.testing.assert_array_equal(out, [[105, 0, 10, 0], [105, 0, 10, 3], [15, 1, 12, 4], [15, 3, 12, 6]])
    with pytest.raises(TypeError, match="None before the region"):
        ReplaceIfWithDispatch.scf_if_dispatch(True, lambda a: a, result_names=("a",), result_values=(None,))
    with pytest.raises(TypeError, match="does not match the region entry"):
        ReplaceIfWithDispatch.scf_if_dispatch(True, lambda a: (a, a), result_names=("a",), result_values=(1,))


def test_a_helper_rewritten_by_hand() -> None:
    def clamp(x: Any, most: Any) -> Any:
        if x > most:
            x = most
        return x

    rewritten = ASTRewriter.transform(clamp)

    def body(out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = rewritten(fx.thread_idx.x, fx.Int32(9))

    out = np.zeros(64, np.int32)
    run(body, out)
    np.testing.assert_array_equal(out, np.minimum(np.arange(64), 9))


def test_casts_by_ir_type() -> None:
    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        number = x[t]
        out[t, 0] = raw.int_to_fp(number, True, T.f32)
        out[t, 1] = fx.arith.int_to_fp(number, False, T.f32)
        out[t, 2] = raw.fp_to_fp(raw.int_to_fp(raw.int_to_int(number, T.i16), True, T.f16), T.f32)
        out[t, 3] = fx.Float32(raw.fp_to_int(fx.Float32(number) * 0.5, True, T.i32))
        seven = raw.xori(raw.arith_const(5, T.i32), 2)
        out[t, 4] = fx.Float32(raw.index_cast(T.i32, raw.index(0)) + seven)

    x = np.array([-3, 5, -1, 1000], np.int32)
    out = np.zeros((4, 5), np.float32)
    run(body, x, out, block=4)
    wanted = np.stack([x, x.view(np.uint32), x, np.trunc(x * 0.5), np.full(4, 7)], 1).astype(np.float32)
    np.testing.assert_array_equal(out, wanted)
    assert raw.element_type(T.vec(4, T.f32)) == T.f32 and raw.element_type(T.i32) == T.i32
    assert raw.recast_type(T.vec(4, T.f32), T.i16) == T.vec(4, T.i16) and raw.recast_type(T.f32, T.bf16) == T.bf16
    assert raw.is_float_type(T.vec(2, T.f16)) and raw.is_integer_like_type(T.index)
    assert not raw.is_float_type(T.i8) and not raw.is_integer_like_type(T.f32)


def test_random_numbers_are_those_of_triton() -> None:
    def body(words: fx.Tensor, floats: fx.Tensor) -> None:
        for i, word in enumerate(fx.random.randint4x(42, 7)):
            words[i] = word.bitcast(fx.Int32)
        for i, value in enumerate((*fx.random.rand4x(42, 7), *fx.random.randn4x(42, 7))):
            floats[i] = value
        floats[8] = fx.random.rand(42, 0)
        floats[9] = fx.random.rand(123456789012345, 3)
        uniform = fx.random.universal.uint_to_uniform_float(fx.Uint32(0x80000000))
        floats[10] = fx.random.universal.pair_uniform_to_normal(uniform, uniform)[0]

    words, floats = np.zeros(4, np.int32), np.zeros(11, np.float32)
    run(body, words, floats, block=1)
    assert [hex(word) for word in words.view(np.uint32)] == ["0x5bbd83b1", "0x68784c85", "0x172067aa", "0x2e6b75b7"]
    wanted = [
        0.7167209,
        0.8161712,
        0.1806764,
        0.3626544,
        0.329644,
        -0.746641,
        -1.202772,
        1.405502,
        0.7740802,
        0.6649532,
    ]
    np.testing.assert_allclose(floats[:10], wanted, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="32 and 64 bits"):
        fx.random.universal.philox(1, *[fx.Uint16(0)] * 4)


def philox64(counter: list[int], key: list[int]) -> list[int]:
    mask, (a, b) = 2**64 - 1, (0xD2E7470EE14C6C93, 0xCA5A826395121157)
    c, k = list(counter), list(key)
    for _ in range(10):
        pa, pb = c[0] * a, c[2] * b
        c = [(pb >> 64) ^ c[1] ^ k[0], pb & mask, (pa >> 64) ^ c[3] ^ k[1], pa & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    return c


def test_random_words_of_64_bits() -> None:
    def body(out: fx.Tensor) -> None:
        t = fx.Uint64(fx.thread_idx.x)
        words = fx.random.universal.philox(9, t, t + fx.Uint64(1 << 40), fx.Uint64(3), fx.Uint64(2**64 - 1))
        for i, word in enumerate(words):
            out[fx.thread_idx.x, i] = word.bitcast(fx.Int64)

    out = np.zeros((4, 4), np.int64)
    run(body, out, block=4)
    for t in range(4):
        assert out[t].view(np.uint64).tolist() == philox64([t, t + (1 << 40), 3, 2**64 - 1], [9, 0])


class Pair:
    """Two numbers, by the protocol as it is documented: no exemplar."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.a.ir_value(), self.b.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any]) -> Pair:
        return cls(fx.Int32(values[0]), fx.Int32(values[1]))


@flyc.kernel
def add_pair(out: fx.Tensor, pair: Pair) -> None:
    t = fx.thread_idx.x
    for i in range(t):
        pair = Pair(pair.a + i, pair.b)
    out[t] = pair.a * 100 + pair.b


@flyc.jit
def launch_pair(out: fx.Tensor, n: fx.Int32) -> None:
    add_pair(out, Pair(n, n * 2)).launch(block=4)


def test_a_value_of_ones_own_from_jit_to_kernel() -> None:
    out = np.zeros(4, np.int32)
    launch_pair(out, 3)
    np.testing.assert_array_equal(out, (3 + np.array([0, 0, 1, 3])) * 100 + 6)


@pytest.mark.parametrize("form", ["for", "while", "init", "if"])
def test_the_difference_of_rewriting_is_shown(form: str, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_AST_DIFF", "1")

    def with_for(out: fx.Tensor) -> None:
        total = fx.Int32(0)
        for i in range(fx.thread_idx.x):
            total = total + i
        out[fx.thread_idx.x] = total

    def with_while(out: fx.Tensor) -> None:
        total = fx.Int32(0)
        while total < fx.thread_idx.x:
            total = total + 1
        out[fx.thread_idx.x] = total

    def with_init(out: fx.Tensor) -> None:
        for i, state in range(0, 3, 1, init=[fx.thread_idx.x]):
            result = yield [state[0] + fx.Int32(i)]
        out[fx.thread_idx.x] = result  # type: ignore[possibly-unbound]

    def with_if(out: fx.Tensor) -> None:
        total = fx.Int32(0)
        if fx.thread_idx.x > 1:
            total = fx.Int32(5)
        out[fx.thread_idx.x] = total

    bodies: dict[str, Any] = {"for": with_for, "while": with_while, "init": with_init, "if": with_if}
    wanted = {"for": [0, 0, 1, 3], "while": [0, 1, 2, 3], "init": [3, 4, 5, 6], "if": [0, 0, 5, 5]}
    out = np.zeros(4, np.int32)
    run(bodies[form], out, block=4)
    assert out.tolist() == wanted[form]
    assert "+++ rewritten" in capfd.readouterr().err


def test_pictures_and_lazy_attributes() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print_typst(fx.make_layout((2, 3), (3, 1)))
    assert "#table(columns: 3" in text.getvalue() and "[0], [1], [2]," in text.getvalue()
    print_typst(fx.make_layout(2, 1), color=True, file=text)
    assert 'fill: rgb("#' in text.getvalue()
    made: list[str] = []

    class Table:
        @lazy_classattr
        def rows(cls) -> list[int]:
            made.append(cls.__name__)  # type: ignore[attr-defined]
            return [1, 2]

    assert Table.rows == [1, 2] and Table.rows == [1, 2] and made == ["Table"]


def test_gather_and_scatter() -> None:
    def body(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor) -> None:
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        offsets = fx.make_rmem_tensor(2, fx.Int32)
        offsets[0], offsets[1] = fx.Int32(8), fx.Int32(0)
        data = fx.make_rmem_tensor((4, 2), fx.Float32)
        fx.gather(atom, fx.get_iter(x), offsets, data)
        out.store(data.load())
        allowed = fx.make_rmem_tensor(2, fx.Boolean)
        allowed[0], allowed[1] = fx.Boolean(True), fx.Boolean(False)
        offsets[1] = fx.Int32(4)
        fx.scatter(atom, data, fx.get_iter(y), offsets, pred=allowed)

    x, y, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32), np.zeros(8, np.float32)
    run(body, x, y, flyc.from_dlpack(out), block=1)
    assert out.tolist() == [8, 9, 10, 11, 0, 1, 2, 3]
    assert y.tolist() == [0] * 8 + [8, 9, 10, 11] + [0] * 4
    with pytest.raises(TypeError, match="assume has no meaning"):
        fx.assume(1)
