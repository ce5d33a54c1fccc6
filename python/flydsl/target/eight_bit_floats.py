"""Which GPUs convert between f32 and 8-bit floats by instruction, and by which of LLVM's intrinsics.

AMD: "CDNA3 ISA" and "CDNA4 ISA", V_CVT_PK_FP8_F32 and its neighbours; RDNA4 and gfx1250 have the same under the same
names. NVIDIA: "PTX ISA 8.8", `cvt` with .e4m3x2 and .e5m2x2, from sm_89 on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class EightBitPair:
    """Intrinsics for two numbers at a time.

    ``codes`` is how many codes a register of them has: an AMD instruction fills half a register of four and takes two
    out of it; NVIDIA's know registers of two, and widen to f16.
    """

    narrow: str
    widen: str
    codes: int


def _amd(fp8: str, bf8: str) -> Mapping[str, EightBitPair]:
    return {
        elem: EightBitPair(f"llvm.amdgcn.cvt.pk.{name}.f32", f"llvm.amdgcn.cvt.pk.f32.{name}", 4)
        for elem, name in ((fp8, "fp8"), (bf8, "bf8"))
    }


_OCP = _amd("f8E4M3FN", "f8E5M2")
_CONVERSIONS: Mapping[str, Mapping[str, EightBitPair]] = {
    "cdna3": _amd("f8E4M3FNUZ", "f8E5M2FNUZ"),
    "cdna4": _OCP,
    "rdna4": _OCP,
    "cdna5": _OCP,
    "hopper": {
        elem: EightBitPair(f"llvm.nvvm.ff.to.{name}.rn", f"llvm.nvvm.{name}.to.f16x2.rn", 2)
        for elem, name in (("f8E4M3FN", "e4m3x2"), ("f8E5M2", "e5m2x2"))
    },
}


def eight_bit_conversions(generation: str) -> Mapping[str, EightBitPair]:
    """The instructions of a generation by element type; none for a generation that has no such."""
    return _CONVERSIONS.get(generation, {})
