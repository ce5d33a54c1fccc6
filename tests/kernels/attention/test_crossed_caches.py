"""Attention of 8 bits, and over caches of every kind, with its features together, against float64.

A run has each choice of each feature and every target; which others it meets, and on which target, changes from seed to
seed. `make thorough` has every two together, and more of heads and types.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl import ops
from flydsl.kernels.attention import pa_decode, paged, parts
from flydsl.kernels.attention.fp8_forward import attention_fp8
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.paged import mla_decode, paged_attention, paged_workspace
from kernels.attention.pa_decode_tile import pa_decode_tile
from kernels.pa_decode_fp8 import pa_decode_ps_launch
from tests.support import fp8_cases, paged_cases, random_data
from tests.support.paged_cases import AMD, OTHERS, PLAIN
from tests.support.pairwise import Case, Features, completed, crossed, in_turn

FUNCTIONS = {
    "its own": paged_attention, "workspace": paged_workspace, "mla_decode": mla_decode,
    "an op's": ops.paged_attention, "ops.mla_decode": ops.mla_decode, "tile": pa_decode_tile,
    "list": pa_decode_ps_launch,
}  # fmt: skip


def fewer(features: Features, **choices: tuple[object, ...]) -> Features:
    """Return features with fewer choices of some, which are quicker to compile."""
    return features if os.environ.get("FLYDSL_TEST_ALL") else {**features, **choices}


SCALES, CACHES, HEADS = ("none", "head", "block"), ("16 bits", PLAIN[0], OTHERS[0]), ((4, 2), (6, 1))
EIGHT_BITS = crossed(
    fewer(fp8_cases.FEATURES, head=((64, 64), (96, 96)), q_scale=SCALES, k_scale=SCALES, v_scale=SCALES)
)
PAGED_FEATURES = fewer(
    paged_cases.FEATURES, head=((64, 64), (192, 128)), heads=HEADS, page=(1, 5, 16), cache=CACHES,
    tokens=("one", 3), room=("its own", "workspace", "an op's"),
)  # fmt: skip
PAGED = crossed(PAGED_FEATURES, paged_cases.REFUSED)
LATENT_FEATURES = fewer(
    paged_cases.LATENT, head=((320, 128), (320, 256)), page=(1, 5, 16), cache=CACHES[:2], tokens=("one", 3),
    room=("workspace", "ops.mla_decode"),
)  # fmt: skip
LATENT = crossed(LATENT_FEATURES, paged_cases.LATENT_REFUSED)
BLOCKS_FEATURES = fewer(
    paged_cases.BLOCKS, head=((64, 64), (96, 96)), heads=HEADS, page=(16, 48), cache=CACHES,
    k_scale=("one", "token"), v_scale=("one", "token"),
)  # fmt: skip
BLOCKS = crossed(BLOCKS_FEATURES, paged_cases.BLOCKS_REFUSED)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def set_up(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose the target of a case, another of AMD's from seed to seed, since nothing is refused on one of these alone;
    and cut long sequences into three parts, as a GPU with more multiprocessors does. On Hopper a warpgroup multiplies
    in half of the cases of 16 bits, and a launch of its own, a cluster or a block puts parts together, others from seed
    to seed."""
    half = (PAGED.index(case) + random_data.SEED) % 2 if case in PAGED else 0
    chosen = paged.is_for_warps
    monkeypatch.setattr(
        paged, "is_for_warps", lambda q, k, *of: k.dtype.itemsize == 1 or (half == 0 and chosen(q, k, *of))
    )
    way = (PAGED.index(case) // 2 + random_data.SEED) % 3 if case in PAGED else 0

    def turns_of(*given: Any) -> parts.Cut:
        found = parts.parts_of(*given, apart=way == 1)
        return replace(found, cluster=4) if way == 2 and found.splits > 1 else found

    monkeypatch.setattr(paged, "turns_of", turns_of)
    target, count = case["target"], {"short": 1, "long": 3}[case["lengths"]]

    def cut(sequences: int, blocks: int, multiprocessors: int, sizes: Any, apart: bool = False) -> Any:
        part = -(-blocks // count)
        return parts.Cut(part, -(-blocks // part), 0, apart and part < blocks)

    for module in (parts, pa_decode):
        monkeypatch.setattr(module, "choose_cut", cut)
    turn = AMD[(AMD.index(target) + random_data.SEED) % len(AMD)] if target in AMD else target
    monkeypatch.setenv("ARCH", turn)


@pytest.mark.parametrize("number", in_turn(EIGHT_BITS, "eight bits"))
def test_eight_bits(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    case = EIGHT_BITS[number]
    plan = ForwardPlan(fx.Float8E4M3FN, 64, 64, keys=64 if case["fast"] else 32, consumers=1, ping_pong=False)
    fp8_cases.run_fp8_case(case, rng, (1, 200), attention_fp8, plan=plan)


@pytest.mark.parametrize("number", in_turn(PAGED, "paged"))
def test_paged_caches(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(PAGED[number], monkeypatch)
    call = paged_cases.paged_call(PAGED[number], rng, 70, 600)
    paged_cases.run_paged_case(PAGED[number], call, FUNCTIONS)


@pytest.mark.parametrize("number", in_turn(LATENT, "latent"))
def test_latent_caches(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(LATENT[number], monkeypatch)
    call = paged_cases.paged_call(LATENT[number], rng, 70, 300)
    paged_cases.run_paged_case(LATENT[number], call, FUNCTIONS)


@pytest.mark.parametrize("number", in_turn(BLOCKS, "blocks"))
def test_caches_in_blocks(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(BLOCKS[number], monkeypatch)
    paged_cases.run_blocks_case(BLOCKS[number], rng, 70, 600, FUNCTIONS)


def test_refused_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no table has is refused by its name."""
    monkeypatch.setenv("ARCH", "sm_90a")
    ones, small = np.ones(2, np.float32), np.zeros((1, 2, 8, 64), getattr(ml_dtypes, PLAIN[0]))
    for name in ("softcap", "sinks", "alibi_slopes", "attn_mask", "cu_seqlens_q", "deterministic"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            attention_fp8(small, small, small, **{name: ones})
    caches, tables, lengths = (
        [np.zeros((3, 16, 2, 64), np.float16)] * 2,
        np.zeros((1, 1), np.int32),
        np.ones(1, np.int32),
    )
    for function in (paged_attention, ops.paged_attention):
        for name in ("alibi_slopes", "attn_mask", "return_lse"):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                function(caches[0][0, :1], *caches, tables, lengths, **{name: ones})
        for name in ("k_scale", "v_scale"):
            with pytest.raises(ValueError, match=rf"^{name} is one number, and its shape is \(2,\)"):
                function(caches[0][0, :1], *caches, tables, lengths, **{name: ones})
    for function in (mla_decode, ops.mla_decode):
        with pytest.raises(ValueError, match=r"^kv_scale is one number, and its shape is \(2,\)"):
            function(
                np.zeros((1, 4, 576), np.float16), np.zeros((3, 16, 576), np.float16), tables, lengths, kv_scale=ones
            )


def test_refused_caches(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = (paged_cases.FEATURES, paged_cases.REFUSED), (paged_cases.LATENT, paged_cases.LATENT_REFUSED)
    for features, refused in tables:
        for choices, says in refused.items():
            case = completed(choices, features, refused)
            monkeypatch.setenv("ARCH", case["target"])
            with pytest.raises((ValueError, TypeError), match=says):
                paged_cases.run_paged_case(case, paged_cases.paged_call(case, rng, 10, 10), FUNCTIONS)
    for choices, says in paged_cases.BLOCKS_REFUSED.items():
        case = completed(choices, paged_cases.BLOCKS, paged_cases.BLOCKS_REFUSED)
        monkeypatch.setenv("ARCH", case["target"])
        with pytest.raises(NotImplementedError, match=says):
            paged_cases.run_blocks_case(case, rng, 10, 10, FUNCTIONS)
