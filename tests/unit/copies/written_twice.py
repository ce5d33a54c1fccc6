"""Kernels written twice: with the pieces of `docs/kernels.md`, and by hand, as they had to be written before.

These move data; `products_twice.py` and `attention_twice.py` have those of matrix instructions.
"""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx

# Transpose of 16-bit elements, 8 x 8 a thread, in registers ------------------------------------


@flyc.kernel
def transpose_short(src: fx.Tensor, dst: fx.Tensor):
    place = (fx.block_idx.x * 8 + fx.thread_idx.x % 8, fx.block_idx.y * 8 + fx.thread_idx.x // 8)
    block = fx.zipped_divide(src.aligned(16), (8, 8))[(None, None), place]
    fx.copy(block, fx.zipped_divide(dst.T.aligned(16), (8, 8))[(None, None), place])


@flyc.kernel
def transpose_by_hand(src: fx.Tensor, dst: fx.Tensor):
    row = (fx.block_idx.x * 8 + fx.thread_idx.x % 8) * 8
    column = (fx.block_idx.y * 8 + fx.thread_idx.x // 8) * 8
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), 16)
    width, height = fx.get_scalar(src.shape[1]), fx.get_scalar(src.shape[0])
    rows = []
    for i in fx.range_constexpr(8):
        held = fx.make_rmem_tensor(8, src.dtype)
        place = fx.get_iter(src) + ((row + i) * width + column)
        fx.copy_atom_call(atom, fx.make_view(place, fx.make_layout(8, 1)), held)
        rows.append(held.load())
    for j in fx.range_constexpr(8):
        held = fx.make_rmem_tensor(8, src.dtype)
        held.store(fx.Vector([rows[i][j] for i in range(8)], dtype=src.dtype))
        place = fx.get_iter(dst) + ((column + j) * height + row)
        fx.copy_atom_call(atom, held, fx.make_view(place, fx.make_layout(8, 1)))


# Softmax of rows, a wave a row -----------------------------------------------------------------


@flyc.kernel
def softmax_short(x: fx.Tensor, out: fx.Tensor, n: fx.Constexpr[int], wave: fx.Constexpr[int]):
    atom = fx.make_copy_atom(fx.UniversalCopy16b(), x.dtype)
    lanes = fx.make_tiled_copy_tv(atom, fx.make_layout((1, wave), (wave, 1)), fx.make_layout((1, 8), (8, 1)))
    padded = -(-n // (8 * wave)) * 8 * wave
    row = fx.zipped_divide(fx.make_identity_tensor((1 << 20, padded)), (1, padded))[(None, None), (fx.block_idx.x, 0)]
    coords = lanes.get_slice(fx.thread_idx.x).partition_S(row)
    inside = fx.inside(coords, (None, n))
    values = fx.elements_at(x.aligned(16), coords).load(mask=inside, other=float("-inf")).to(fx.Float32)
    values = fx.exp(values - fx.coop.warp_reduce(values.reduce("maxnumf"), "max"))
    total = fx.coop.warp_reduce(values.reduce("add"), "add")
    fx.elements_at(out.aligned(16), coords).store(values / total, mask=inside)


@flyc.kernel
def softmax_by_hand(x: fx.Tensor, out: fx.Tensor, n: fx.Constexpr[int], wave: fx.Constexpr[int]):
    row, lane = fx.block_idx.x, fx.thread_idx.x
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), x.dtype)
    chunks = -(-n // (8 * wave))
    values = []
    for chunk in fx.range_constexpr(chunks):
        column = (chunk * wave + lane) * 8
        held = fx.make_rmem_tensor(8, x.dtype)
        held.fill(float("-inf"))
        pred = fx.make_rmem_tensor(1, fx.Boolean)
        pred[0] = column < n
        place = fx.make_view(fx.get_iter(x) + (row * n + column), fx.make_layout(8, 1))
        fx.copy_atom_call(atom, place, held, pred=pred)
        values.append(held.load().to(fx.Float32))
    most = values[0].reduce("maxnumf")
    for chunk in fx.range_constexpr(1, chunks):
        most = fx.max(most, values[chunk].reduce("maxnumf"))
    most = fx.coop.warp_reduce(most, "max")
    total = fx.Float32(0.0)
    for chunk in fx.range_constexpr(chunks):
        values[chunk] = fx.exp(values[chunk] - most)
        total = total + values[chunk].reduce("add")
    total = fx.coop.warp_reduce(total, "add")
    for chunk in fx.range_constexpr(chunks):
        column = (chunk * wave + lane) * 8
        held = fx.make_rmem_tensor(8, out.dtype)
        held.store((values[chunk] / total).to(out.dtype))
        pred = fx.make_rmem_tensor(1, fx.Boolean)
        pred[0] = column < n
        place = fx.make_view(fx.get_iter(out) + (row * n + column), fx.make_layout(8, 1))
        fx.copy_atom_call(atom, held, place, pred=pred)
