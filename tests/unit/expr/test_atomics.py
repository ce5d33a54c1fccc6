"""`fx.atomic` and `fx.fence`: results against NumPy on the virtual GPU of every family, and the instructions."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.unit.expr.on_host import call
from tests.unit.nvvm.running import ptx
from tests.unit.rocdl.device_code import assembly

ARCHES = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
BLOCKS, THREADS, PLACES = 24, 64, 8
COMBINED: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
INTEGERS = (np.int32, np.uint32, np.int64, np.uint64, np.int16)
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
FORMS = {**dict.fromkeys(INTEGERS, tuple(COMBINED)), **dict.fromkeys(FLOATS, ("add", "min", "max"))}


@pytest.fixture(params=ARCHES)
def arch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ARCH", request.param)
    return request.param


def combine_all(ops: tuple[str, ...], shared: bool) -> Any:
    """A jit function of (values, places): thread t combines its value into place t % PLACES, a column for every op."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        if fx.const_expr(shared):
            array = fx.SharedAllocator().allocate(fx.Array[x.dtype, PLACES * len(ops)])
            kept = array.peek().view(fx.make_layout((PLACES, len(ops)), (1, PLACES)))
            if t < PLACES:
                for column in fx.range_constexpr(len(ops)):
                    kept[t, column] = out[t, column]
            fx.barrier()
            for column, op in enumerate(ops):
                fx.atomic(op, kept, x[t], at=(t % PLACES, column))
            fx.barrier()
            if t < PLACES:
                for column in fx.range_constexpr(len(ops)):
                    out[t, column] = kept[t, column]
        else:
            for column, op in enumerate(ops):
                fx.atomic(op, out, x[fx.block_idx.x * THREADS + t], at=(t % PLACES, column))

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1 if shared else BLOCKS, block=THREADS)

    return run


def numbers(kind: Any, count: int) -> np.ndarray:
    """Small whole numbers, whose sums no type rounds."""
    low = 0 if np.dtype(kind).kind == "u" else -4
    return np.random.default_rng(3).integers(low, 5, count).astype(kind)


def check_operations(shared: bool, run: Any) -> None:
    """Every operation on every type, against NumPy; ``run`` calls a jit function with arrays."""
    for kind, ops in FORMS.items():
        x = numbers(kind, THREADS if shared else BLOCKS * THREADS)
        out = np.full((PLACES, len(ops) + 1), 3, kind)  # the last column is nobody's
        run(combine_all(ops, shared), x, out)
        for column, op in enumerate(ops):
            want = np.full(PLACES, 3, kind)
            for row in x.reshape(-1, PLACES):
                want = COMBINED[op](want, row).astype(kind)
            np.testing.assert_array_equal(out[:, column], want, err_msg=f"{op} {np.dtype(kind)}")
        assert (out[:, -1] == np.array(3, kind)).all()


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_every_operation_on_every_type(arch: str, shared: bool) -> None:
    check_operations(shared, call)


@flyc.kernel
def exchange_kernel(tickets: fx.Tensor, counter: fx.Tensor, last: fx.Tensor, lock: fx.Tensor, sums: fx.Tensor):
    t = fx.thread_idx.x + fx.block_idx.x * THREADS
    tickets[t] = fx.atomic("add", counter, 1, at=0, order="acq_rel")
    last[t] = fx.atomic("exchange", counter, fx.Float32(t).bitcast(fx.Int32), at=1)
    found = fx.atomic("compare_exchange", lock, t.to(fx.Float32), at=0, expected=-1.0, order="seq_cst", scope="system")
    sums[t] = found


def test_old_values_and_exchanges(arch: str) -> None:
    @flyc.jit
    def run(tickets: fx.Tensor, counter: fx.Tensor, last: fx.Tensor, lock: fx.Tensor, sums: fx.Tensor):
        exchange_kernel(tickets, counter, last, lock, sums).launch(grid=BLOCKS, block=THREADS)

    count = BLOCKS * THREADS
    tickets, counter, last = np.zeros(count, np.int32), np.zeros(2, np.int32), np.zeros(count, np.int32)
    lock, found = np.full(1, -1, np.float32), np.zeros(count, np.float32)
    run(tickets, counter, last, lock, found)
    assert sorted(tickets) == list(range(count)) and counter[0] == count
    everything = {0, *np.arange(count, dtype=np.float32).view(np.int32).tolist()}
    assert {*last.tolist(), int(counter[1])} == everything
    assert (found == -1).sum() == 1 and int(np.flatnonzero(found == -1)[0]) == lock[0]
    assert set(found.tolist()) == {-1.0, float(lock[0])}


def pairs_launcher(shared: bool = False) -> Any:
    @flyc.kernel
    def kernel(out: fx.Tensor, old: fx.Tensor):
        t = fx.thread_idx.x
        pair = fx.Vector.from_elements([out.dtype(1.0), out.dtype(t % 3)], out.dtype)
        if fx.const_expr(shared):
            array = fx.SharedAllocator().allocate(fx.Array[out.dtype, 2 * PLACES, 16])
            kept = array.peek().view(fx.make_layout((PLACES, 2), (2, 1)))
            if t < PLACES:
                kept[t, None].fill(0.0)
            fx.barrier()
            fx.atomic("add", kept, pair, at=(t % PLACES, None))
            fx.barrier()
            if t < PLACES:
                out[t, None].store(kept[t, None].load())
        else:
            old[t, None].store(fx.atomic("add", out, pair, at=(t % PLACES, None)))

    @flyc.jit
    def run(out: fx.Tensor, old: fx.Tensor):
        kernel(out, old).launch(block=THREADS)

    return run


def pairs(kind: Any) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    out, old = np.zeros((PLACES, 2), kind), np.zeros((THREADS, 2), kind)
    return out, old, [flyc.from_dlpack(array, assumed_align=4) for array in (out, old)]


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_pairs_are_added(arch: str, kind: Any, shared: bool) -> None:
    out, old, arguments = pairs(kind)
    pairs_launcher(shared)(*arguments)
    second = [sum(t % 3 for t in range(place, THREADS, PLACES)) for place in range(PLACES)]
    np.testing.assert_array_equal(out.astype(np.float32), np.array([[THREADS // PLACES, n] for n in second]))
    if not shared:
        firsts = old[:, 0].astype(int).reshape(-1, PLACES)
        assert (np.sort(firsts, axis=0) == np.arange(THREADS // PLACES)[:, None]).all()


def test_a_swizzled_view_is_combined_where_it_is_read(arch: str) -> None:
    swizzle, places = (2, 3, 3), 256

    @flyc.kernel
    def kernel(out: fx.Tensor):
        t = fx.thread_idx.x
        array = fx.SharedAllocator().allocate(fx.Array[fx.Int32, places, 1024])
        plain = array.peek().view(fx.make_layout(places, 1))
        pointer = fx.apply_swizzle(fx.get_iter(plain), fx.make_swizzle(*swizzle))
        moved = fx.make_view(pointer, fx.make_layout(places, 1))
        for step in fx.range_constexpr(places // THREADS):
            moved[t + step * THREADS] = t + step * THREADS
        fx.barrier()
        for step in fx.range_constexpr(places // THREADS):
            index = t + step * THREADS
            fx.atomic("add", moved, index * 1000, at=index)
            fx.mem_ops.atomic_add(pointer, index * 7, index)
        fx.barrier()
        for step in fx.range_constexpr(places // THREADS):
            out[t + step * THREADS] = moved[t + step * THREADS]

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(block=THREADS)

    out = np.zeros(places, np.int32)
    run(out)
    np.testing.assert_array_equal(out, np.arange(places) * 1008)


@flyc.kernel
def racing_kernel(x: fx.Tensor, plain: fx.Constexpr[bool]):
    if fx.const_expr(plain):
        x[0] = x[0] + 1
    else:
        fx.atomic("add", x, 1, at=0)


@flyc.kernel
def outside_kernel(x: fx.Tensor, plain: fx.Constexpr[bool]):
    fx.atomic("compare_exchange", x, 1, at=fx.thread_idx.x + 1, expected=0)


@pytest.mark.parametrize(
    ("kernel", "plain", "said"),
    [(racing_kernel, False, None), (racing_kernel, True, "race"), (outside_kernel, False, "out-of-bounds atomic")],
)
def test_sanitizers_know_it(
    kernel: Any, plain: bool, said: str | None, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLYDSL_SANITIZE", "bounds,race")

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x, plain).launch(block=THREADS)

    x = np.zeros(THREADS, np.int32)
    if said is None:
        run(x)
        assert x[0] == THREADS
        return
    with pytest.raises(FlyDSLError, match=said):
        run(x)


# Instructions ------------------------------------------------------------------------------------


def code(function: Any, args: Any, arch: str) -> str:
    return ptx(function, tuple(args), arch) if arch.startswith("sm_") else assembly(function, tuple(args), arch)


AMD_LOOPS = re.compile(r"cmpswap|cmpst")
INSTRUCTIONS = {
    ("add", np.float32): ("global_atomic_add_f32", "ds_add_f32", "add.f32"),
    ("add", np.int32): ("global_atomic_add(_u32)?", "ds_add_u32", "add.u32"),
    ("max", np.int32): ("global_atomic_(smax|max_i32)", "ds_max_i32", "max.s32"),
    ("max", np.uint64): ("global_atomic_(umax_x2|max_u64)", "ds_max_u64", "max.u64"),
    ("xor", np.int64): ("global_atomic_xor_(x2|b64)", "ds_xor_b64", "xor.b64"),
}


@pytest.mark.parametrize("target", ARCHES)
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_one_instruction(target: str, shared: bool) -> None:
    for (op, kind), (in_global, in_shared, in_ptx) in INSTRUCTIONS.items():
        text = code(combine_all((op,), shared), (numbers(kind, THREADS), np.zeros((PLACES, 2), kind)), target)
        assert not AMD_LOOPS.search(text), (op, kind)
        if target == "sm_90a":
            space, scope = ("shared", "cta") if shared else ("global", "gpu")
            assert f"red.relaxed.{scope}.{space}.{in_ptx}" in text
        else:
            assert re.search(rf"\b{in_shared if shared else in_global}\b", text), (op, kind)


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_float_extremes_are_instructions_of_gfx12(target: str) -> None:
    x = np.zeros(THREADS, np.float32)
    text = code(combine_all(("max",), False), (x, np.zeros((PLACES, 2), np.float32)), target)
    assert "global_atomic_max_num_f32" in text and not AMD_LOOPS.search(text)


@pytest.mark.parametrize("target", ARCHES)
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_pairs_are_one_instruction(target: str, name: str) -> None:
    kind = np.float16 if name == "f16" else ml_dtypes.bfloat16
    for shared in (False, True):
        text = code(pairs_launcher(shared), pairs(kind)[2], target)
        if target == "sm_90a":
            assert f".{'shared' if shared else 'global'}.add.noftz.{name}x2" in text
        else:
            assert re.search(rf"{'ds' if shared else 'global_atomic'}_pk_add(_rtn)?_{name}\b", text)
            assert not AMD_LOOPS.search(text)


ORDERED = [
    ("relaxed", "block", "relaxed.cta"),
    ("acquire", "cluster", "acquire.cluster"),
    ("release", "device", "release.gpu"),
    ("seq_cst", "system", "acq_rel.sys"),
]


def ordered_launcher(order: str, scope: str) -> Any:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        t = fx.thread_idx.x
        out[t] = fx.atomic("add", x, 1, at=t, order=order, scope=scope)
        fx.fence(scope)

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=THREADS)

    return run


@pytest.mark.parametrize(("order", "scope", "words"), ORDERED)
def test_order_and_scope_reach_the_code(order: str, scope: str, words: str) -> None:
    x = np.zeros(THREADS, np.int32)
    text = code(ordered_launcher(order, scope), (x, x), "sm_90a")
    assert f"atom.{words}.global.add.u32" in text
    assert f"fence.acq_rel.{words.split('.')[1]}" in text
    assert ("fence.sc.sys" in text) is (order == "seq_cst")
    amd = code(ordered_launcher(order, scope), (x, x), "gfx942")
    assert ("buffer_inv" in amd) is (scope in ("device", "system"))
    assert ("sc0 sc1" in amd) is (scope == "system")


def test_system_scope_promises_nothing_about_the_memory() -> None:
    """Memory of another device has few atomics, so an extreme of floats is a loop there."""

    def launcher(scope: str) -> Any:
        @flyc.kernel
        def kernel(x: fx.Tensor):
            fx.atomic("max", x, 1.0, at=fx.thread_idx.x, scope=scope)

        @flyc.jit
        def run(x: fx.Tensor):
            kernel(x).launch(block=THREADS)

        return run

    x = np.zeros(THREADS, np.float32)
    assert not AMD_LOOPS.search(code(launcher("device"), (x,), "gfx1201"))
    assert AMD_LOOPS.search(code(launcher("system"), (x,), "gfx1201"))


def test_an_exchange_is_an_atom_though_nobody_asks() -> None:
    """`red` of NVIDIA GPUs has no exchange."""
    x = np.zeros(THREADS, np.int32)
    text = code(combine_all(("exchange",), False), (x, np.zeros((PLACES, 2), np.int32)), "sm_90a")
    assert "atom.relaxed.gpu.global.exch.b32" in text and "red." not in text


# Mistakes ----------------------------------------------------------------------------------------

X = np.zeros((4, 4), np.float32)
MISTAKES = [
    (lambda x: fx.atomic("plus", x, 1, at=(0, 0)), "unknown atomic operation 'plus'"),
    (lambda x: fx.atomic("xor", x, 1, at=(0, 0)), "atomic 'xor' has no meaning for Float32"),
    (lambda x: fx.atomic("add", x, 1, at=(0, 0), order="strict"), "unknown order 'strict'"),
    (lambda x: fx.atomic("add", x, 1, at=(0, 0), scope="grid"), "unknown scope 'grid'"),
    (lambda x: fx.atomic("add", x, 1, at=(0, 0), expected=1), "no other operation, takes what it expects"),
    (lambda x: fx.atomic("compare_exchange", x, 1, at=(0, 0)), "takes what it expects"),
    (lambda x: fx.atomic("add", x, 1), "size is known while compiling"),
    (lambda x: fx.atomic("add", x[0, 0], 1), "works on a view of memory"),
    (lambda x: fx.atomic("add", fx.make_rmem_tensor(1, fx.Float32), 1), "is in register"),
    (lambda x: fx.fence("grid"), "unknown scope 'grid'"),
    (lambda x: fx.fence("device", "relaxed"), "a fence has no order 'relaxed'"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_mistakes_are_named(mistake: Any, message: str) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        mistake(x)

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch()

    with pytest.raises(FlyDSLError, match=re.escape(message)):
        run(X)


def test_a_vector_fits_its_view() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        fx.atomic("add", x, fx.Vector.filled(3, 1.0, fx.Float32), at=(0, None))

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch()

    with pytest.raises(FlyDSLError, match="a vector of 3, and the view has 4 elements"):
        run(flyc.from_dlpack(X))
