"""Sums whose numbers cross the links in 8 bits: packs of 16 codes, each with a scale of its own.

A pack's scale is its largest magnitude over the format's largest number, an f32 behind the packs. Codes are rounded to
nearest and decoded alike by every rank, so all get the same bits, with an error of up to 1/16 of a number for each
time that it is encoded: once in one shot, and once more for its sum in two shots. A pack that holds an infinity or a
NaN is NaN.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.narrow import FORMATS, largest_magnitude, quantised, row_scale
from flydsl.kernels.comm.packs import INPUT, PACK_BYTES, Exchange

SCALE_BYTES = 4


def wire_bytes(count: int) -> int:
    """Bytes that so many numbers are on the wire."""
    return -(-count // PACK_BYTES) * (PACK_BYTES + SCALE_BYTES)


class NarrowExchange(Exchange):
    """An exchange whose packs are codes of 8 bits; tensors have as many elements to a pack."""

    def __init__(
        self, stage: fx.Symmetric, signals: fx.Symmetric, dtype: type[fx.Numeric], threads: int, wire: str
    ) -> None:
        super().__init__(stage, signals, dtype, threads)
        self.wire, self.width = wire, PACK_BYTES

    def put(self, pack: fx.Int32, vector: fx.Vector, part: int = INPUT) -> None:
        """Encode a pack into this rank's stage."""
        wide = vector.to(fx.Float32)
        scale, inverse = row_scale(largest_magnitude([wide]), self.wire)
        codes, scales = self._places(self.stage.local, pack, part)
        codes.store(quantised(wide * inverse, self.wire))
        scales[0] = scale

    def wide(self, rank: int | fx.Int32, pack: fx.Int32, part: int = INPUT) -> Any:
        """Return a pack of a rank's stage, decoded."""
        codes, scales = self._places(self.stage.at(rank), pack, part)
        return codes.load().to(fx.Float32) * scales[0]

    def _places(self, stage: fx.Tensor, pack: fx.Int32, part: int) -> tuple[Any, Any]:
        """Return where a pack's codes and its scale are: scales lie in the second half of a part."""
        base = fx.get_iter(stage[self.calls & 1, part, None])
        codes = fx.recast_iter(FORMATS[self.wire], base) + pack * PACK_BYTES
        middle = fx.ceildiv(fx.Int32(stage.shape[2]), fx.Int32(2 * PACK_BYTES)) * (PACK_BYTES // SCALE_BYTES)
        scale = fx.recast_iter(fx.Float32, base) + (middle + pack)
        return (
            fx.make_view(codes.aligned(PACK_BYTES), fx.make_layout(PACK_BYTES, 1)),
            fx.make_view(scale, fx.make_layout(1, 1)),
        )
