"""Rows of results of the forward kernel on their way to memory."""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.scores import softmax_end
from flydsl.kernels.attention.tiles import ROW_LANES, whole_lines


@flyc.jit
def store(mine, piece, tops, sums, out, lse):
    """Rows divided by their sums to memory, eight neighbouring elements of a row at a time."""
    rows, sinks, dtype = mine.o_rows, mine.extras[2], mine.plan.result
    sink = None if sinks is None else fx.Float32(sinks[piece.head])
    batch = piece.batch if out.shape[0] != 1 else 0
    found = []
    for top, total, values in zip(tops, sums, rows.split(mine.o.load()), strict=True):
        if fx.const_expr(mine.plan.linear):
            scale, logarithm = softmax_end(top, values[values.numel - 1], (), sink)
            values = values.shuffle(values, range(mine.plan.dv // 4))
        else:
            scale, logarithm = softmax_end(top, total, ROW_LANES, sink)
        if fx.const_expr(mine.plan.scaled != ""):
            scale = scale * mine.scale_of(3, piece, 0)
        kept = (scale == 0.0).select(fx.zeros_like(values), values * scale).to(dtype)
        found.append((whole_lines(kept.bitcast(fx.Int32), rows.column // 2), logarithm))
    for i, (lines, logarithm) in enumerate(found):
        query = piece.first + rows.query + rows.rows[i]
        if query < piece.queries:
            row = out[batch, piece.head, piece.query_start + query, None]
            for block, line in enumerate(lines):
                line.bitcast(dtype).store(row, [block * 32 + rows.column * 4], alignment=16)
            if fx.const_expr(lse is not None):
                if rows.column == 0:
                    lse[batch, piece.head, piece.query_start + query] = logarithm
