"""Which GPUs convert between f32 and narrower floats by instruction, and by which of LLVM's intrinsics.

AMD: "CDNA3 ISA" and "CDNA4 ISA", V_CVT_PK_FP8_F32 and V_CVT_SCALEF32_PK_FP4_F32 and their neighbours; RDNA4 and gfx1250
have fp8 under the same names. NVIDIA: "PTX ISA 8.8", `cvt` with .e4m3x2 and .e5m2x2, from sm_89 on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from flydsl.base.records import dataclass

Form = Literal["half", "pair", "byte", "whole"]
"""What one instruction fills or reads: half of a register that is chosen by a flag (fp8 on AMD GPUs), a register of two
codes (NVIDIA), one byte of a register, with a scale (fp4 on gfx950), or a register of eight (fp4 on gfx1250)."""


@dataclass(frozen=True)
class PackedConversion:
    """The intrinsics of one element type; a register of them holds so many codes."""

    narrow: str
    widen: str
    form: Form
    codes: int


def _eight_bits(fp8: str, bf8: str) -> Mapping[str, PackedConversion]:
    return {
        elem: PackedConversion(f"llvm.amdgcn.cvt.pk.{name}.f32", f"llvm.amdgcn.cvt.pk.f32.{name}", "half", 4)
        for elem, name in ((fp8, "fp8"), (bf8, "bf8"))
    }


_OCP = _eight_bits("f8E4M3FN", "f8E5M2")
_FP4 = "f4E2M1FN"
_SCALED = "llvm.amdgcn.cvt.scalef32"
_CONVERSIONS: Mapping[str, Mapping[str, PackedConversion]] = {
    "cdna3": _eight_bits("f8E4M3FNUZ", "f8E5M2FNUZ"),
    "cdna4": {**_OCP, _FP4: PackedConversion(f"{_SCALED}.pk.fp4.f32", f"{_SCALED}.pk.f32.fp4", "byte", 8)},
    "rdna4": _OCP,
    "cdna5": {
        **_OCP,
        _FP4: PackedConversion(f"{_SCALED}.pk8.fp4.f32", "llvm.amdgcn.cvt.scale.pk8.f32.fp4", "whole", 8),
    },
    "hopper": {
        elem: PackedConversion(f"llvm.nvvm.ff.to.{name}.rn", f"llvm.nvvm.{name}.to.f16x2.rn", "pair", 2)
        for elem, name in (("f8E4M3FN", "e4m3x2"), ("f8E5M2", "e5m2x2"))
    },
}


def narrow_conversions(generation: str) -> Mapping[str, PackedConversion]:
    """Return the instructions of a generation by element type; none for a generation that has no such."""
    return _CONVERSIONS.get(generation, {})
