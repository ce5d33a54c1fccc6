"""AMD's conversions between wide floats and 8-, 6- and 4-bit ones with a scale, as facts: operands and result.

``cvt_scalef32_*`` takes the scale as a float of which only the exponent counts: narrow to wide multiplies by it, wide
to narrow divides. Operand texts are MLIR types, or what the instruction encodes: ``flag`` (which half) and ``sel``
with the number of choices (which byte). Source: LLVM's IntrinsicsAMDGPU.td, the CDNA 4 ISA, sections of VOP3.
"""

from __future__ import annotations

from collections.abc import Iterator

from flydsl.base.records import dataclass

WIDE = ("f32", "f16", "bf16")
FORMATS = {"fp8": "f8E4M3FN", "bf8": "f8E5M2", "fp6": "f6E2M3FN", "bf6": "f6E3M2FN", "fp4": "f4E2M1FN"}
"""AMD's name of a narrow float to its type."""
BITS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}


@dataclass(frozen=True)
class ScaledConversion:
    """One instruction: its function's name, operands, result and generation.

    ``source`` and ``to`` are the element formats; ``random`` marks stochastic rounding.
    """

    name: str
    operands: tuple[str, ...]
    result: str
    generation: str
    source: str
    to: str
    random: bool = False

    @property
    def intrinsic(self) -> str:
        head, tail = self.name.split("_", 1)
        return f"llvm.amdgcn.{head}.{tail.replace('_', '.')}"


def _words(count: int, narrow: str) -> str:
    words = count * BITS[narrow] // 32
    return "i32" if words == 1 else f"vector<{words}xi32>"


def _cdna4() -> Iterator[ScaledConversion]:
    def row(name: str, operands: tuple[str, ...], result: str, source: str, to: str, random: bool = False):
        return ScaledConversion(f"cvt_scalef32_{name}", operands, result, "cdna4", source, to, random)

    for narrow in ("fp8", "bf8"):
        yield row(f"pk_{narrow}_f32", ("vector<2xi16>", "f32", "f32", "f32", "flag"), "vector<2xi16>", "f32", narrow)
        yield row(f"f32_{narrow}", ("i32", "f32", "sel4"), "f32", narrow, "f32")
        yield row(f"f16_{narrow}", ("vector<2xf16>", "i32", "f32", "sel4", "flag"), "vector<2xf16>", narrow, "f16")
        for wide in WIDE:
            yield row(f"pk_{wide}_{narrow}", ("i32", "f32", "flag"), f"vector<2x{wide}>", narrow, wide)
            yield row(f"sr_{narrow}_{wide}", ("i32", wide, "i32", "f32", "sel4"), "i32", wide, narrow, True)
        for wide in WIDE[1:]:
            pair = f"vector<2x{wide}>"
            yield row(f"pk_{narrow}_{wide}", ("vector<2xi16>", pair, "f32", "flag"), "vector<2xi16>", wide, narrow)
    yield row("pk_fp4_f32", ("i32", "f32", "f32", "f32", "sel4"), "i32", "f32", "fp4")
    for wide in WIDE:
        pair = f"vector<2x{wide}>"
        yield row(f"pk_{wide}_fp4", ("i32", "f32", "sel4"), pair, "fp4", wide)
        yield row(f"sr_pk_fp4_{wide}", ("i32", pair, "i32", "f32", "sel4"), "i32", wide, "fp4", True)
        if wide != "f32":
            yield row(f"pk_fp4_{wide}", ("i32", pair, "f32", "sel4"), "i32", wide, "fp4")
    for narrow in ("fp6", "bf6"):
        words = _words(32, narrow)
        yield row(f"2xpk16_{narrow}_f32", ("vector<16xf32>", "vector<16xf32>", "f32"), words, "f32", narrow)
        for wide in WIDE:
            many = f"vector<32x{wide}>"
            yield row(f"pk32_{wide}_{narrow}", (words, "f32"), many, narrow, wide)
            yield row(f"sr_pk32_{narrow}_{wide}", (many, "i32", "f32"), words, wide, narrow, True)
            if wide != "f32":
                yield row(f"pk32_{narrow}_{wide}", (many, "f32"), words, wide, narrow)


def _cdna5() -> Iterator[ScaledConversion]:
    for narrow, count in (("fp8", 8), ("bf8", 8), ("fp4", 8), ("fp6", 16), ("bf6", 16)):
        words = _words(count, narrow)
        for wide in WIDE:
            many, tail = f"vector<{count}x{wide}>", f"pk{count}_{narrow}_{wide}"
            yield ScaledConversion(f"cvt_scalef32_{tail}", (many, "f32"), words, "cdna5", wide, narrow)
            yield ScaledConversion(f"cvt_scalef32_sr_{tail}", (many, "i32", "f32"), words, "cdna5", wide, narrow, True)
            name = f"cvt_scale_pk{count}_{wide}_{narrow}"
            yield ScaledConversion(name, (words, "i32", "sel16"), many, "cdna5", narrow, wide)


SCALED_CONVERSIONS: dict[str, ScaledConversion] = {row.name: row for row in (*_cdna4(), *_cdna5())}
"""Function name to its facts."""
