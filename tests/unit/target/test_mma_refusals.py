"""What the matrix-instruction tables refuse, and what they say then; descriptors of shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flydsl.base.errors import DslValueError
from flydsl.target.mma_cdna import Mfma, MfmaScale
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_rdna import Wmma, WmmaScale
from flydsl.target.mma_warpgroup import Wgmma, encode_descriptor
from flydsl.target.target import parse_target

INVALID: list[tuple[Callable[[], Any], str]] = [
    (lambda: Mfma(16, 16, 8, "f16", "f16", "f32"), "(f16, f16) -> f32: 4x4x4, 16x16x4, 16x16x16, 16x16x32"),
    (lambda: Mfma(16, 16, 32, "f8E4M3FN", "f8E4M3FNUZ", "f32"), "(f8E4M3FN, f8E5M2) -> f32: 16x16x32, 32x32x16"),
    (lambda: Mfma(16, 16, 16, "f16", "f16", "f16"), "valid: "),
    (lambda: MfmaScale(16, 16, 64, "f8E4M3FN", "f8E4M3FN"), "16x16x128, 32x32x64"),
    (lambda: MfmaScale(16, 16, 128, "f8E4M3FN", "f16"), "(f6E2M3FN, f4E2M1FN) -> f32: 16x16x128"),
    (lambda: MfmaScale(16, 16, 128, "f4E2M1FN", "f4E2M1FN", opsel_a=4), "use 0 to 3"),
    (lambda: Wmma("rdna3", 16, 16, 32, "f16", "f16", "f32"), "(i4, i4) -> i32: 16x16x16"),
    (lambda: Wmma("cdna5", 16, 16, 64, "i4", "i4", "i32"), "(i8, i8) -> i32: 16x16x64"),
    (lambda: Wmma("rdna3", 16, 16, 16, "f16", "f16", "f32", clamp=True), "i8 and i4 only"),
    (lambda: WmmaScale(32, 16, 128, "f8E4M3FN", "f4E2M1FN"), "(f4E2M1FN, f4E2M1FN) -> f32: 16x16x128, 32x16x128"),
    (lambda: WmmaScale(16, 16, 128, "f4E2M1FN", "f4E2M1FN", opsel_b=2), "use one of 0, 1"),
    (lambda: WmmaScale(16, 16, 128, "f4E2M1FN", "f4E2M1FN", block_size=8), "use one of 32, 16"),
    (lambda: MmaSync(16, 16, 16, "f16", "f16", "f32"), "(f16, f16) -> f32: 16x8x8, 16x8x16"),
    (lambda: Wgmma(12, 16, "f16", "f16", "f32"), "64x8x16, 64x16x16"),
    (lambda: Wgmma(40, 32, "i8", "i8", "i32"), "64x32x32, 64x48x32"),
    (lambda: Wgmma(64, 32, "f8E5M2", "f8E5M2", "f32", major_b="mn"), "only f16 and bf16"),
    (lambda: Wgmma(64, 16, "f16", "f16", "f32", a_source="global"), "use 'shared' or 'register'"),
    (lambda: Wgmma(64, 16, "f16", "f16", "f32", "register", major_a="mn"), "leave major_a"),
]


@pytest.mark.parametrize(("make", "said"), INVALID)
def test_invalid_cells_are_refused_with_the_valid_ones(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(DslValueError) as refusal:
        make()
    assert said in str(refusal.value)


ELSEWHERE: list[tuple[Any, str, str]] = [
    (Mfma(16, 16, 32, "f16", "f16", "f32"), "gfx942", "(f16, f16) -> f32: 4x4x4, 16x16x4, 16x16x16, 32x32x4, 32x32x8"),
    (Mfma(32, 32, 4, "bf16", "bf16", "f32"), "gfx942", "(bf16, bf16) -> f32: 4x4x4, 16x16x4, 16x16x16, 32x32x8"),
    (MfmaScale(16, 16, 128, "f4E2M1FN", "f4E2M1FN"), "gfx942", "gfx942 has no instruction of this family"),
    (Wmma("rdna3", 16, 16, 16, "f16", "f16", "f32"), "gfx1250", "(f16, f16) -> f32: 16x16x32"),
    (Wmma("cdna5", 16, 16, 32, "i4", "i4", "i32"), "gfx1250", "(i8, i8) -> i32: 16x16x64"),
    (WmmaScale(16, 16, 128, "f4E2M1FN", "f4E2M1FN"), "gfx1201", "no instruction of this family"),
    (MmaSync(16, 8, 32, "f8E4M3FN", "f8E4M3FN", "f32"), "sm_80", "(i8, i8) -> i32: 8x8x16, 16x8x16, 16x8x32"),
    (Wgmma(64, 16, "f16", "f16", "f32"), "sm_80", "no instruction of this family"),
    (Mfma(16, 16, 16, "f16", "f16", "f32"), "sm_90a", "no instruction of this family"),
]


@pytest.mark.parametrize(("op", "arch", "said"), ELSEWHERE, ids=lambda x: str(x))
def test_a_target_without_the_instruction_says_what_it_has(op: Any, arch: str, said: str) -> None:
    with pytest.raises(DslValueError) as refusal:
        op.require(parse_target(arch))
    assert said in str(refusal.value)


def test_a_target_with_the_instruction_gives_it_back() -> None:
    op = Mfma(16, 16, 16, "f16", "f16", "f32")
    assert op.require(parse_target("gfx942")) is op


def test_descriptor_fields() -> None:
    """PTX ISA 9.7.15.5.1.2.2, by hand: address 0x400, 1024 bytes from eight rows to the next, 128-byte swizzle."""
    assert encode_descriptor(0x400, 16, 1024, "128B") == (1 << 62) | (64 << 32) | (1 << 16) | 0x40
    assert encode_descriptor(0x3FFF0, 0, 0, "32B", base_offset=7) == (3 << 62) | (7 << 49) | 0x3FFF
    for arguments in ((8, 0, 0, "none"), (0x40000, 0, 0, "none"), (0, 0, 0, "256B"), (0, 0, 0, "none", 8)):
        with pytest.raises(DslValueError):
            encode_descriptor(*arguments)
