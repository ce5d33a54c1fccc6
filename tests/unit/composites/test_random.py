"""Philox against its published test vectors, and the distributions made from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from tests.unit.composites.launching import run

# The known-answer tests of Random123, philox 4x32-10: counter, key, result.
KNOWN: list[tuple[list[int], list[int], list[int]]] = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers_while_tracing(counter: list[int], key: list[int], result: list[int]) -> None:
    assert [int(word) for word in fx.random.philox_impl(*counter, *key)] == result
    assert [int(word) for word in fx.random.philox(key[0] | key[1] << 32, *counter)] == result


def reference(seed: int, offsets: np.ndarray[Any, Any], rounds: int = 10) -> list[np.ndarray[Any, Any]]:
    mask = np.uint64(0xFFFFFFFF)
    words = [offsets.astype(np.uint64), np.zeros(len(offsets), np.uint64)]
    c0, c1, c2, c3 = words[0] & mask, words[1], words[1].copy(), words[1].copy()
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(rounds):
        a, b = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1 = (b >> np.uint64(32)) ^ c1 ^ np.uint64(k0), b & mask
        c2, c3 = (a >> np.uint64(32)) ^ c3 ^ np.uint64(k1), a & mask
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [word.astype(np.uint32) for word in (c0, c1, c2, c3)]


@pytest.mark.parametrize("rounds", [7, 10])
def test_run_time_words(rounds: int) -> None:
    seed = 0x1234_5678_9ABC_DEF0

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        words = fx.random.randint4x(fx.Int64(seed), a[t], rounds)
        for i in fx.range_constexpr(4):
            out[t, i] = words[i]
        out[t, 4] = fx.random.randint(fx.Int64(seed), a[t], rounds)

    offsets, out = np.arange(64, dtype=np.int32) * 1000, np.zeros((64, 5), np.uint32)
    run(body, offsets, out)
    expected = reference(seed, offsets, rounds)
    np.testing.assert_array_equal(out, np.stack([*expected, expected[0]], axis=1))


def test_distributions() -> None:
    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        for i in range(64):
            at = t * 64 + i
            uniform, normal = fx.random.rand4x(3, at), fx.random.randn4x(3, at)
            for j in fx.range_constexpr(4):
                out[at, j] = uniform[j]
                out[at, 4 + j] = normal[j]
            out[at, 8] = fx.random.rand(3, at)
            out[at, 9] = fx.random.randn(3, at)

    out = np.zeros((64 * 64, 10), np.float32)
    run(body, np.zeros(1, np.float32), out)
    uniform, normal = out[:, :4].reshape(-1), out[:, 4:8].reshape(-1)
    assert uniform.min() >= 0 and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.01 and abs(uniform.var() - 1 / 12) < 0.005
    assert np.isfinite(normal).all() and abs(normal.mean()) < 0.03 and abs(normal.std() - 1) < 0.03
    words = reference(3, np.arange(64 * 64))
    signed = words[0].astype(np.uint32).view(np.int32)
    folded = np.where(signed < 0, -(signed.astype(np.int64)) - 1, signed).astype(np.float32)
    np.testing.assert_array_equal(out[:, 0], folded * np.float32(4.6566127342e-10))
    np.testing.assert_array_equal(out[:, 8], out[:, 0])
    np.testing.assert_array_equal(out[:, 9], out[:, 4])
    angle = out[:, 1].astype(np.float64) * 2 * np.pi
    radius = np.sqrt(-2 * np.log(np.maximum(out[:, 0].astype(np.float64), 1e-7)))
    np.testing.assert_allclose(out[:, 4], radius * np.cos(angle), atol=1e-5)
    np.testing.assert_allclose(out[:, 5], radius * np.sin(angle), atol=1e-5)
