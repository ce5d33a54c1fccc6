"""`fx.rocdl` and `fx.nvvm` constructors of matrix instructions: defaults, targets, and the text they print as."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslValueError, VerifyError
from flydsl.dialects.fly.mma_text import MMA_BUILDERS
from flydsl.dialects.fly.payload_text import MATRIX_INSTRUCTIONS, parse_instruction
from flydsl.expr.trace.context import tracing
from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.target import known_archs, parse_target

rocdl, nvvm = fx.rocdl, fx.nvvm


def on(arch: str) -> Any:
    """As if a kernel for that target were being traced."""
    emitter: Any = SimpleNamespace(target=parse_target(arch))
    return tracing(emitter)


TEXTS: list[tuple[Any, str]] = [
    (rocdl.MFMA(16, 16, 16, fx.Float16), "!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>"),
    (rocdl.MFMA(16, 16, 4, fx.Float32), "!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>"),
    (rocdl.MFMA(16, 16, 32, fx.Int8, fx.Int32), "!fly_rocdl.cdna3.mfma<16x16x32, (i8, i8) -> i32>"),
    (
        rocdl.cdna3.MFMA(32, 32, 16, (fx.Float8E4M3FNUZ, fx.Float8E5M2FNUZ), fx.Float32),
        "!fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>",
    ),
    (
        rocdl.cdna4.MFMA_Scale(16, 16, 128, fx.Float8E4M3FN, fx.Float4E2M1FN, opsel_b=3),
        "!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 3>",
    ),
    (
        rocdl.rdna3.WMMA(16, 16, 16, fx.Float16),
        "!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>",
    ),
    (
        rocdl.rdna4.WMMA(16, 16, 16, (fx.Int8, fx.Uint8), clamp=True),
        "!fly_rocdl.gfx120x.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = true>",
    ),
    (
        rocdl.WMMA(16, 16, 32, fx.BFloat16, fx.BFloat16),
        "!fly_rocdl.gfx1250.wmma<16x16x32, (bf16, bf16) -> bf16, signA = false, signB = false, clamp = false>",
    ),
    (
        rocdl.cdna5.WMMAScale(16, 16, 128, fx.Float6E3M2FN, block_size=16, reuse_a=True),
        "!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f6E3M2FN, f6E3M2FN) -> f32, opselA = 0, opselB = 0, modC = 0, "
        "reuseA = true, reuseB = false, blockSize = 16>",
    ),
    (nvvm.MmaSync(16, 8, 16, fx.BFloat16), "!fly_nvvm.sm80.mma_sync<16x8x16, (bf16, bf16) -> f32>"),
    (nvvm.MmaSync(16, 8, 8, fx.Float32), "!fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>"),
    (nvvm.MmaSync(16, 8, 32, (fx.Int8, fx.Uint8)), "!fly_nvvm.sm80.mma_sync<16x8x32, (i8, ui8) -> i32>"),
    (nvvm.MmaSync(8, 8, 4, fx.Float64), "!fly_nvvm.sm80.mma_sync<8x8x4, (f64, f64) -> f64>"),
    (
        nvvm.Wgmma(128, 16, fx.Float16, fx.Float32, "register", major_b="mn"),
        "!fly_nvvm.sm90.wgmma<64x128x16, (f16, f16) -> f32, a = register, majorA = k, majorB = mn>",
    ),
]


@pytest.mark.parametrize(("op", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text_of_instructions(op: Any, text: str) -> None:
    assert str(op) == text
    assert parse_instruction(text) == op


@pytest.mark.parametrize("arch", known_archs())
def test_every_instruction_reads_back(arch: str) -> None:
    for op in matrix_instructions(parse_target(arch)):
        assert parse_instruction(str(op)) == op


def test_every_type_has_a_builder() -> None:
    assert set(MMA_BUILDERS) == set(MATRIX_INSTRUCTIONS)


def test_spaces_and_missing_flags_are_fine() -> None:
    read = parse_instruction("!fly_rocdl.gfx11.wmma<16x16x16,(f16,f16)->f32>")
    assert read == rocdl.rdna3.WMMA(16, 16, 16, fx.Float16)


@pytest.mark.parametrize(
    "text",
    [
        "!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32, opselA = 0>",
        "!fly_rocdl.cdna4.mfma_scale<16x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opsel>",
        "!fly_nvvm.sm90.wgmma<32x128x16, (f16, f16) -> f32>",
    ],
)
def test_unknown_parameters_are_refused(text: str) -> None:
    with pytest.raises(VerifyError):
        parse_instruction(text)


def test_atoms_take_them() -> None:
    atom = fx.make_mma_atom(rocdl.MFMA(16, 16, 4, fx.Float32))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 4, 1), (0, 1, 0)))
    assert str(tiled.thr_layout_vmnk.payload) == "(64,1,4,1):(1,0,64,0)"
    assert tiled.tile_size_mnk.payload == (16, 64, 4)
    tf32 = fx.make_mma_atom(nvvm.MmaSync(16, 8, 8, fx.Float32))
    assert tf32.payload.operand_elem("a") == "f32"


@pytest.mark.parametrize(
    ("arch", "make", "said"),
    [
        ("gfx942", lambda: rocdl.MFMA(16, 16, 32, fx.Float16), "(f16, f16) -> f32"),
        ("gfx90a", lambda: rocdl.MFMA(16, 16, 32, fx.Int8), "(i8, i8) -> i32: 4x4x4, 16x16x4, 16x16x16"),
        ("gfx942", lambda: rocdl.cdna4.MFMAScale(16, 16, 128, fx.Float4E2M1FN), "gfx942 has no"),
        ("gfx942", lambda: rocdl.WMMA(16, 16, 16, fx.Float16), "gfx942 has no instruction of this family"),
        ("gfx1201", lambda: rocdl.rdna3.WMMA(16, 16, 16, fx.Float16), "gfx1201 has"),
        ("gfx1201", lambda: rocdl.MFMA(16, 16, 16, fx.Float16), "no instruction of this family"),
        ("sm_80", lambda: nvvm.Wgmma(64, 16, fx.Float16), "sm_80 has no"),
        ("gfx950", lambda: nvvm.MmaSync(16, 8, 16, fx.Float16), "gfx950 has no"),
    ],
)
def test_the_traced_target_must_have_it(arch: str, make: Any, said: str) -> None:
    with on(arch), pytest.raises(DslValueError) as refusal:
        make()
    assert said in str(refusal.value)


def test_wmma_follows_the_traced_target() -> None:
    for arch, generation in (("gfx1100", "rdna3"), ("gfx1201", "rdna4")):
        with on(arch):
            assert rocdl.WMMA(16, 16, 16, fx.Float16).generation == generation
    with on("gfx1250"):
        assert rocdl.WMMA(16, 16, 64, fx.Int8).sign_a
        with pytest.raises(DslValueError, match="gfx1250 has no WMMA"):
            rocdl.WMMA(16, 16, 16, fx.Float16)


def test_outside_a_trace_an_ambiguous_wmma_asks() -> None:
    with pytest.raises(DslValueError, match=r"rdna3\.WMMA, rdna4\.WMMA"):
        rocdl.WMMA(16, 16, 16, fx.Float16)
