"""Kernels written twice: with the pieces of `docs/kernels.md`, and by hand, as they had to be written before."""

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


# One step of a GEMM on NVIDIA: 64 x 64 x 32 from swizzled shared memory, by four warps -----------

SWIZZLE = (2, 3, 3)


@flyc.kernel
def gemm_short(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared = fx.thread_idx.x, fx.SharedAllocator()
    place = fx.make_composed_layout(fx.make_swizzle(*SWIZZLE), fx.make_layout((64, 32), (32, 1)))
    tiles = [fx.make_view(shared.allocate(fx.Array[fx.Float16, 2048, 128]).ptr, place) for _ in range(2)]
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    pieces = fx.make_tiled_copy_tv(atom, fx.make_layout((32, 4), (4, 1)), fx.make_layout((1, 8), (8, 1)))
    mine = pieces.get_slice(thread)
    for source, tile in zip((a, b), tiles, strict=True):
        fx.copy(mine.partition_S(source.aligned(16)), mine.partition_D(tile))
    fx.barrier()
    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    mma = fx.make_tiled_mma(product, fx.make_layout((2, 2, 1), (1, 2, 0)), (32, 32, 16))
    acc, held = mma.make_fragment_C(c), (mma.make_fragment_A(tiles[0]), mma.make_fragment_B(tiles[1]))
    acc.fill(0)
    move = fx.make_copy_atom(fx.nvvm.LdMatrix(4), fx.Float16)
    for tiled, tile, fragment in zip(
        (fx.make_tiled_copy_A(move, mma), fx.make_tiled_copy_B(move, mma)), tiles, held, strict=True
    ):
        fx.copy(tiled, tiled.get_slice(thread).partition_S(tile), tiled.get_slice(thread).retile(fragment))
    fx.gemm(mma, acc, *held, acc)
    fx.copy(acc, mma.get_slice(thread).partition_C(c.aligned(16)))


@flyc.kernel
def gemm_by_hand(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared = fx.thread_idx.x, fx.SharedAllocator()
    lane, warp = thread % 32, thread // 32
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    tiles = [shared.allocate(fx.Array[fx.Float16, 2048, 128]).ptr for _ in range(2)]
    for source, tile in zip((a, b), tiles, strict=True):
        for i in fx.range_constexpr(2):
            row, chunk = i * 32 + thread // 4, thread % 4
            held = fx.make_rmem_tensor(8, fx.Float16)
            place = fx.get_iter(source) + (row * 32 + chunk * 8)
            fx.copy_atom_call(atom, fx.make_view(place, fx.make_layout(8, 1)), held)
            # The swizzle, by hand: two bits of the row go into the chunk.
            moved = row * 32 + (chunk ^ (row // 2 % 4)) * 8
            fx.copy_atom_call(atom, held, fx.make_view(tile + moved, fx.make_layout(8, 1)))
    fx.barrier()
    accs = [[fx.make_rmem_tensor(4, fx.Float32) for _ in range(4)] for _ in range(2)]
    for m in fx.range_constexpr(2):
        for n in fx.range_constexpr(4):
            accs[m][n].fill(0)
    for k in fx.range_constexpr(2):
        a_words, b_words = [], []
        for m in fx.range_constexpr(2):
            row = m * 32 + warp % 2 * 16 + lane % 16
            chunk = (k * 2 + lane // 16) ^ (row // 2 % 4)
            a_words.append(fx.nvvm.ldmatrix(tiles[0] + (row * 32 + chunk * 8), 4).bitcast(fx.Float16))
        for n in fx.range_constexpr(2):
            row = n * 32 + lane // 16 * 16 + warp // 2 * 8 + lane % 8
            chunk = (k * 2 + lane // 8 % 2) ^ (row // 2 % 4)
            words = fx.nvvm.ldmatrix(tiles[1] + (row * 32 + chunk * 8), 4)
            b_words += [fx.Vector([words[2 * i], words[2 * i + 1]]).bitcast(fx.Float16) for i in range(2)]
        for m in fx.range_constexpr(2):
            for n in fx.range_constexpr(4):
                a_held, b_held = fx.make_rmem_tensor(8, fx.Float16), fx.make_rmem_tensor(4, fx.Float16)
                a_held.store(a_words[m])
                b_held.store(b_words[n])
                fx.mma_atom_call(product, accs[m][n], a_held, b_held, accs[m][n])
    for m in fx.range_constexpr(2):
        for n in fx.range_constexpr(4):
            values = accs[m][n].load()
            column = n * 16 + warp // 2 * 8 + lane % 4 * 2
            for half in fx.range_constexpr(2):
                row = m * 32 + warp % 2 * 16 + half * 8 + lane // 4
                place = fx.get_iter(c) + (row * 64 + column)
                pair = fx.Vector([values[half * 2], values[half * 2 + 1]])
                fx.make_view(place.aligned(8), fx.make_layout(2, 1)).store(pair)
