"""The collectives' objects on virtual ranks: all calls in one program, large arrays, the fused norm, other names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base.errors import DslValueError
from flydsl.kernels.comm.custom_all_reduce import FlyDSLAllreduce, init_custom_ar, meta_size
from flydsl.kernels.comm.custom_all_reduce_kernel import make_allreduce_kernels
from flydsl.kernels.comm.model import LINKS, fastest_way, microseconds
from flydsl.kernels.comm.rank_collectives import Collectives
from tests.kernels.test_collectives import CALLS, CASES, INTERLEAVINGS, LARGE, MOST_BYTES, sizes

WORLD = 4


def collectives(rank: Any, **options: Any) -> Collectives:
    return Collectives(rank, **{"max_bytes": 4096, "blocks": 2, "threads": 64, **options})


def ordered_sum(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0].astype(np.float32)
    for part in parts[1:]:
        total = total + part.astype(np.float32)
    return total.astype(parts[0].dtype)


def test_calls_one_after_the_other(rng: np.random.Generator) -> None:
    """Every call uses the memory of those before; a sum that is too large for it takes turns."""
    parts = [rng.standard_normal((7, 301)).astype(np.float16) for _ in range(WORLD)]
    stacks = [rng.standard_normal((WORLD, 33)).astype(np.float16) for _ in range(WORLD)]

    def program(rank: Any) -> tuple[np.ndarray, ...]:
        calls = collectives(rank)
        x, stack = parts[rank.number], stacks[rank.number]
        out = np.zeros_like(x)
        assert calls.all_reduce(x, out) is out
        return (
            out,
            calls.all_gather(x[0]),
            calls.reduce_scatter(stack),
            calls.all_to_all(stack),
            calls.all_reduce(stack),
        )

    results = flyc.virtual_ranks(WORLD, seed=11).run(program)
    for rank, (total, gathered, scattered, turned, last) in enumerate(results):
        np.testing.assert_array_equal(total, ordered_sum(parts))
        np.testing.assert_array_equal(gathered, np.stack([part[0] for part in parts]))
        np.testing.assert_array_equal(scattered, ordered_sum(stacks)[rank])
        np.testing.assert_array_equal(turned, np.stack([stack[rank] for stack in stacks]))
        np.testing.assert_array_equal(last, ordered_sum(stacks))


def norm_in_any_order(world: int, rng: np.random.Generator, interleavings: int, most: int) -> int:
    """Draw rows of up to ``most`` bytes and interleavings of the norm of a sum; how many there were."""
    kind, count = ml_dtypes.bfloat16, 0
    for size, seeds in sizes(rng, most // np.dtype(kind).itemsize, interleavings):
        m = int(rng.integers(1, 8)) if size < 1 << 20 else int(rng.integers(500, 1500))
        n = -(-size // m)
        parts = [rng.standard_normal((m, n), np.float32).astype(kind) for _ in range(world)]
        old, weight = (rng.standard_normal(shape, np.float32).astype(kind) for shape in ((m, n), n))

        def program(rank: Any, parts: Any = parts, old: Any = old, weight: Any = weight) -> list[Any]:
            calls, found = collectives(rank, max_bytes=len(old) * (old.nbytes // len(old) + 16)), []
            for _ in range(CALLS if old.nbytes <= LARGE else 1):
                residual = old.copy()
                found.append((calls.all_reduce_rms_norm(parts[rank.number], residual, weight, eps=1e-5), residual))
            return found

        summed = (ordered_sum(parts).astype(np.float32) + old.astype(np.float32)).astype(kind)
        wide = summed.astype(np.float64)
        exact = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5) * weight.astype(np.float64)
        first: Any = None
        for seed in seeds:
            results = flyc.virtual_ranks(world, seed=seed).run(program)
            first = results[0][0][0] if first is None else first
            for out, residual in (pair for rank in results for pair in rank):
                assert residual.tobytes() == summed.tobytes()
                assert out.tobytes() == first.tobytes(), f"seed {seed}, or a rank, has other bits"
        np.testing.assert_allclose(first.astype(np.float64), exact, rtol=2**-8, atol=1e-6)
        count += len(seeds)
    return count


@pytest.mark.parametrize(("arch", "world"), CASES)
def test_the_norm_of_a_sum(arch: str, world: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    assert norm_in_any_order(world, rng, INTERLEAVINGS, MOST_BYTES) == INTERLEAVINGS


def test_numbers_of_8_bits_on_the_wire(rng: np.random.Generator) -> None:
    """By the object, which takes turns, and by the other name of the option."""
    parts = [rng.uniform(1, 2, 3008).astype(np.float16) for _ in range(2)]

    def program(rank: Any) -> list[np.ndarray]:
        calls, other = collectives(rank), FlyDSLAllreduce(rank, 1 << 14, threads=64, blocks=2)
        x = parts[rank.number]
        return [calls.all_reduce(x, wire="fp8"), other.custom_all_reduce(x, open_fp8_quant=True)]

    (found, other), (found_too, _) = flyc.virtual_ranks(2, seed=8).run(program)
    assert found.tobytes() == found_too.tobytes()
    for out in (found, other):
        error = np.abs(out.astype(np.float64) - sum(part.astype(np.float64) for part in parts))
        assert 0 < error.max() <= 4 * (2**-4 + 2**-4)


def test_results_in_place(rng: np.random.Generator) -> None:
    """Over all of x, or over the part of a rank that is its own."""
    stacks = [rng.standard_normal((WORLD, 33)).astype(np.float32) for _ in range(WORLD)]

    def program(rank: Any) -> tuple[np.ndarray, ...]:
        calls, mine = collectives(rank), rank.number
        total, gathered, scattered, turned = (stacks[mine].copy() for _ in range(4))
        calls.all_reduce(total, total)
        calls.all_gather(gathered[mine], gathered)
        calls.reduce_scatter(scattered, scattered[mine])
        calls.all_to_all(turned, turned)
        return total, gathered, scattered[mine], turned

    for rank, (total, gathered, scattered, turned) in enumerate(flyc.virtual_ranks(WORLD, seed=12).run(program)):
        np.testing.assert_array_equal(total, ordered_sum(stacks))
        np.testing.assert_array_equal(gathered, np.stack([stack[i] for i, stack in enumerate(stacks)]))
        np.testing.assert_array_equal(scattered, ordered_sum(stacks)[rank])
        np.testing.assert_array_equal(turned, np.stack([stack[rank] for stack in stacks]))


def test_mistakes_are_told() -> None:
    def after(call: Any) -> Any:
        return lambda rank: call(collectives(rank))

    x, long = np.zeros((3, 4), np.float32), np.zeros(9, np.float32)
    cases = [
        (lambda calls: calls.all_reduce(x.astype(np.int32)), TypeError, "not int32"),
        (lambda calls: calls.all_reduce(x.T), ValueError, "contiguous"),
        (lambda calls: calls.all_reduce(x, x[:2]), ValueError, "and out is"),
        (lambda calls: calls.all_reduce(x, wire="int4"), ValueError, 'wire="fp8", not'),
        (lambda calls: calls.all_reduce(long[:-1], long[1:]), ValueError, "lies partly over x"),
        (lambda calls: calls.all_gather(long[1:4], long[:6].reshape(2, 3)), ValueError, "lies partly over x"),
        (lambda calls: calls.all_to_all(x), ValueError, "first mode is the 2 ranks"),
        (lambda calls: calls.all_reduce_rms_norm(x, x[:2], x[0]), ValueError, r"residual is float32 of shape \(3, 4\)"),
        (lambda calls: calls.all_reduce_rms_norm(x, x, x), ValueError, r"weight is float32 of shape \(4,\), got"),
        (lambda calls: calls.all_reduce_rms_norm(x, np.asfortranarray(x), x[0]), ValueError, "residual must be contig"),
        (lambda calls: calls.all_gather(np.zeros(9999, np.float32)), ValueError, "raise max_bytes"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            flyc.virtual_ranks(2).run(after(call))


def test_ranks_that_disagree_are_told_before_a_launch() -> None:
    """On every rank, and with what each has: size, type, collective, way."""
    cases = [
        (lambda calls, odd: calls.all_reduce(np.zeros(4 + odd, np.float32)), r"\(4,\).*rank 1 has .*\(5,\)"),
        (lambda calls, odd: calls.all_gather(np.zeros(4, [np.float32, np.float16][odd])), "float32.*float16"),
        (lambda calls, odd: [calls.all_reduce, calls.all_gather][odd](np.zeros(4, np.float32)), "all_gather"),
        (lambda calls, odd: calls.all_reduce(np.zeros(4, np.float32), wire=[None, "fp8"][odd]), "fp8"),
    ]

    def told(call: Any, message: str) -> Any:
        def program(rank: Any) -> bool:
            with pytest.raises(DslValueError, match=message):
                call(collectives(rank), rank.number)
            return True

        return program

    for call, message in cases:
        assert all(flyc.virtual_ranks(2).run(told(call, message)))


# By the names of FlyDSL ------------------------------------------------------------------------


def test_the_object_by_its_other_name(rng: np.random.Generator) -> None:
    parts = [rng.standard_normal((2, 72)).astype(np.float16) for _ in range(2)]

    def program(rank: Any) -> np.ndarray:
        ar = init_custom_ar(None, None, [b""] * 2, [0] * 2, rank, True, max_size=1 << 14)
        x = parts[rank.number]
        assert ar.should_custom_ar(x)
        assert ar.custom_all_reduce(x[:, :3].copy()) is None, "12 bytes are no pack"
        assert ar.custom_all_reduce(np.zeros(1 << 14, np.float32)) is None
        assert ar.custom_all_reduce(np.zeros(4, np.float64)) is None
        with ar.capture():
            out = ar.custom_all_reduce(x)
        assert ar.all_gather_reg(x).shape == (2, 2, 72)
        ar.close()
        with pytest.raises(RuntimeError, match="closed"):
            ar.all_reduce_reg(x)
        return out

    assert meta_size() == 0
    for out in flyc.virtual_ranks(2).run(program):
        np.testing.assert_array_equal(out, ordered_sum(parts))
    with pytest.raises(ValueError, match=r"one of \(2, 4, 8\)"):
        flyc.virtual_ranks(3).run(FlyDSLAllreduce)


def test_kernels_by_their_other_names(rng: np.random.Generator) -> None:
    kernels = make_allreduce_kernels(N=160, dtype_str="f16", world_size=2, threads=64)
    assert sorted(kernels) == ["run_1stage_arr", "run_2stage_arr", "run_2stage_write_mode"]
    parts = [rng.standard_normal(160).astype(np.float16) for _ in range(2)]

    def program(rank: Any) -> list[np.ndarray]:
        calls = collectives(rank)
        outs = [np.zeros(160, np.float16) for _ in kernels]
        for run, out in zip(kernels.values(), outs, strict=True):
            run(parts[rank.number], out, calls.stage, calls.signals, calls.blocks)
        return outs

    for outs in flyc.virtual_ranks(2, seed=2).run(program):
        for out in outs:
            np.testing.assert_array_equal(out, ordered_sum(parts))
    for wrong in ({"N": 7}, {"world_size": 3}, {"dtype_str": "f64"}, {"threads": 96}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            make_allreduce_kernels(**{"N": 160, "dtype_str": "f16", "world_size": 4, **wrong})


# The model -------------------------------------------------------------------------------------


def test_the_model_is_near_what_others_measured() -> None:
    """Microseconds of MI355X, eight ranks (vLLM PR 39080), and of Hopper, two shots (PR 42324)."""
    for size, measured in ((24, 6.3), (192, 7.0), (384, 7.5), (768, 9.6), (1536, 12.9)):
        assert abs(microseconds("all_reduce_two_shot", 8, size * 1024, LINKS["cdna4"]) / measured - 1) < 0.1
    for size, measured in ((512, 15), (1024, 17), (4096, 37), (16384, 125)):
        assert abs(microseconds("all_reduce_two_shot", 8, size * 1024, LINKS["hopper"]) / measured - 1) < 0.3
    for size, measured in ((512, 11), (1024, 14), (4096, 27), (16384, 87)):
        assert abs(microseconds("all_reduce_multimem", 8, size * 1024, LINKS["hopper"]) / measured - 1) < 0.3


def test_small_sums_take_one_shot_and_large_ones_two() -> None:
    assert fastest_way(8, 16 << 10) == "all_reduce_one_shot"
    assert fastest_way(8, 4 << 20) == "all_reduce_two_shot"
    assert fastest_way(2, 4 << 20) == "all_reduce_one_shot"
    assert fastest_way(8, 4 << 20, multicast=True) == "all_reduce_multimem"


def test_the_checkout_has_their_paths() -> None:
    for path in ("custom_all_reduce", "comm.custom_all_reduce"):
        assert import_module(f"kernels.{path}").init_custom_ar is init_custom_ar
    for path in ("custom_all_reduce_kernel", "comm.custom_all_reduce_kernel"):
        assert import_module(f"kernels.{path}").make_allreduce_kernels is make_allreduce_kernels
