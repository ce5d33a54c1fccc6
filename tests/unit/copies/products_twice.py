"""Products written twice: C = A * B^T in f16 over tiles of 64 x 64 with edges, for two targets.

K is a multiple of a tile's depth and N of what a store moves; the tensors say so, and both forms rely on it.
"""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx

STAGES = 3

# Hopper: three stages by cp.async, fragments by ldmatrix, mma.sync by four warps --------------------------


@flyc.kernel
def hopper_short(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared, at = fx.thread_idx.x, fx.SharedAllocator(), (fx.block_idx.x, fx.block_idx.y)
    ring = fx.make_composed_layout(fx.make_swizzle(2, 3, 3), fx.make_layout((64, 32, STAGES), (32, 1, 2048)))
    tiles = [fx.make_view(shared.allocate(fx.Array[fx.Float16, STAGES * 2048, 128]).ptr, ring) for _ in range(2)]
    atom = fx.make_copy_atom(fx.nvvm.CpAsync(128), fx.Float16)
    pieces = fx.make_tiled_copy_tv(atom, fx.make_layout((32, 4), (4, 1)), fx.make_layout((1, 8), (8, 1)))
    mover, pipe = pieces.get_slice(thread), fx.pipeline.make_pipeline("cp.async", stages=STAGES)

    def fill(step, stage):
        for source, tile, block in zip((a, b), tiles, at, strict=True):
            part = fx.tile_part(mover.partition_S, source, (64, 32), (block, step))
            fx.copy(pieces, part.view, mover.partition_D(tile[None, None, stage]), pred=part.inside)

    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    mma = fx.make_tiled_mma(product, fx.make_layout((2, 2, 1), (1, 2, 0)), (32, 32, 16))
    move, corner = fx.make_copy_atom(fx.nvvm.LdMatrix(4), fx.Float16), fx.tile_coordinates((64, 64), at)
    acc, lanes = mma.make_fragment_C(corner), (fx.make_tiled_copy_A(move, mma), fx.make_tiled_copy_B(move, mma))
    acc.fill(0)
    held = mma.make_fragment_A(tiles[0][None, None, 0]), mma.make_fragment_B(tiles[1][None, None, 0])
    pipe.fill_ahead(fill)
    for step in range(fx.get_scalar(a.shape[1]) // 32):
        stage = pipe.turn(step, fill)
        for tiled, tile, fragment in zip(lanes, tiles, held, strict=True):
            mine = tiled.get_slice(thread)
            fx.copy(tiled, mine.partition_S(tile[None, None, stage]), mine.retile(fragment))
        fx.gemm(mma, acc, *held, acc)
    fx.epilogue.Store(c)(acc.load(), mma.get_slice(thread).partition_C(corner), c.shape)


@flyc.kernel
def hopper_by_hand(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared = fx.thread_idx.x, fx.SharedAllocator()
    lane, warp = thread % 32, thread // 32
    m, n, k = fx.get_scalar(a.shape[0]), fx.get_scalar(b.shape[0]), fx.get_scalar(a.shape[1])
    a_pitch, b_pitch, c_pitch = (fx.get_scalar(t.stride[0]) for t in (a, b, c))
    first_m, first_n = fx.block_idx.x * 64, fx.block_idx.y * 64
    atom = fx.make_copy_atom(fx.nvvm.CpAsync(128), fx.Float16)
    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, fx.Float16))
    tiles = [shared.allocate(fx.Array[fx.Float16, STAGES * 2048, 128]).ptr for _ in range(2)]
    piece = fx.make_layout(8, 1)

    def fill(step, stage):
        given = zip((a, b), tiles, (first_m, first_n), (m, n), (a_pitch, b_pitch), strict=True)
        for source, tile, first, rows, pitch in given:
            for i in fx.range_constexpr(2):
                row, chunk = i * 32 + thread // 4, thread % 4
                pred = fx.make_rmem_tensor(1, fx.Boolean)
                pred[0] = (first + row < rows) & (step * 32 + chunk * 8 < k)
                place = fx.get_iter(source) + ((first + row) * pitch + step * 32 + chunk * 8)
                # The swizzle, by hand: two bits of the row go into the chunk.
                moved = stage * 2048 + row * 32 + (chunk ^ (row // 2 % 4)) * 8
                fx.copy_atom_call(atom, fx.make_view(place, piece), fx.make_view(tile + moved, piece), pred=pred)
        fx.nvvm.cp_async_commit_group()

    accs = [[fx.make_rmem_tensor(4, fx.Float32) for _ in range(4)] for _ in range(2)]
    for i in fx.range_constexpr(2):
        for j in fx.range_constexpr(4):
            accs[i][j].fill(0)
    for step in fx.range_constexpr(STAGES - 1):
        fill(step, step)
    for step in range(k // 32):
        fx.nvvm.cp_async_wait_group(STAGES - 2)
        fx.barrier()
        fill(step + STAGES - 1, (step + STAGES - 1) % STAGES)
        stage = step % STAGES * 2048
        for depth in fx.range_constexpr(2):
            a_words, b_words = [], []
            for i in fx.range_constexpr(2):
                row = i * 32 + warp % 2 * 16 + lane % 16
                chunk = (depth * 2 + lane // 16) ^ (row // 2 % 4)
                a_words.append(fx.nvvm.ldmatrix(tiles[0] + (stage + row * 32 + chunk * 8), 4).bitcast(fx.Float16))
            for j in fx.range_constexpr(2):
                row = j * 32 + lane // 16 * 16 + warp // 2 * 8 + lane % 8
                chunk = (depth * 2 + lane // 8 % 2) ^ (row // 2 % 4)
                words = fx.nvvm.ldmatrix(tiles[1] + (stage + row * 32 + chunk * 8), 4)
                b_words += [fx.Vector([words[2 * i], words[2 * i + 1]]).bitcast(fx.Float16) for i in range(2)]
            for i in fx.range_constexpr(2):
                for j in fx.range_constexpr(4):
                    a_held, b_held = fx.make_rmem_tensor(8, fx.Float16), fx.make_rmem_tensor(4, fx.Float16)
                    a_held.store(a_words[i])
                    b_held.store(b_words[j])
                    fx.mma_atom_call(product, accs[i][j], a_held, b_held, accs[i][j])
    for i in fx.range_constexpr(2):
        for j in fx.range_constexpr(4):
            values = accs[i][j].load()
            column = first_n + j * 16 + warp // 2 * 8 + lane % 4 * 2
            for half in fx.range_constexpr(2):
                row = first_m + i * 32 + warp % 2 * 16 + half * 8 + lane // 4
                pair = fx.Vector([values[half * 2], values[half * 2 + 1]])
                place = fx.make_view((fx.get_iter(c) + (row * c_pitch + column)).aligned(8), fx.make_layout(2, 1))
                place.store(pair, mask=(row < m) & (column < n))


# gfx950: two tiles in LDS in turn, the next one on its way in registers, MFMA by four waves -----------------------


@flyc.kernel
def cdna_short(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared, at = fx.thread_idx.x, fx.SharedAllocator(), (fx.block_idx.x, fx.block_idx.y)
    ring = fx.make_composed_layout(fx.make_swizzle(3, 3, 3), fx.make_layout((64, 64, 2), (64, 1, 4096)))
    tiles = [fx.make_view(shared.allocate(fx.Array[fx.Float16, 8192, 128]).ptr, ring) for _ in range(2)]
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    pieces = fx.make_tiled_copy_tv(atom, fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 8), (8, 1)))
    mover = pieces.get_slice(thread)

    def parts(step):
        return [fx.tile_part(mover.partition_S, t, (64, 64), (i, step)).load() for t, i in zip((a, b), at, strict=True)]

    product = fx.make_mma_atom(fx.rocdl.cdna4.MFMA(16, 16, 32, fx.Float16))
    mma = fx.make_tiled_mma(product, fx.make_layout((2, 2, 1), (1, 2, 0)))
    mine, corner = mma.get_slice(thread), fx.tile_coordinates((64, 64), at)
    acc = mma.make_fragment_C(corner)
    acc.fill(0)
    coming = parts(0)
    for step in range(fx.get_scalar(a.shape[1]) // 64):
        now = [tile[None, None, step % 2] for tile in tiles]
        for tile, values in zip(now, coming, strict=True):
            mover.partition_D(tile).store(values)
        fx.barrier()
        coming = parts(step + 1)
        held = mma.make_fragment_A(now[0]), mma.make_fragment_B(now[1])
        fx.copy(mine.partition_A(now[0]), held[0])
        fx.copy(mine.partition_B(now[1]), held[1])
        fx.gemm(mma, acc, *held, acc)
    fx.epilogue.Store(c)(acc.load(), mine.partition_C(corner), c.shape)


@flyc.kernel
def cdna_by_hand(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
    thread, shared = fx.thread_idx.x, fx.SharedAllocator()
    lane, wave = thread % 64, thread // 64
    m, n, k = fx.get_scalar(a.shape[0]), fx.get_scalar(b.shape[0]), fx.get_scalar(a.shape[1])
    a_pitch, b_pitch = (fx.get_scalar(t.stride[0]) for t in (a, b))
    first_m, first_n = fx.block_idx.x * 64, fx.block_idx.y * 64
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    tiles = [shared.allocate(fx.Array[fx.Float16, 8192, 128]).ptr for _ in range(2)]
    piece = fx.make_layout(8, 1)

    def part(source, first, rows, pitch, step):
        found = []
        for i in fx.range_constexpr(2):
            row, column = first + i * 32 + thread // 8, step * 64 + thread % 8 * 8
            held = fx.make_rmem_tensor(8, fx.Float16)
            held.fill(0)
            pred = fx.make_rmem_tensor(1, fx.Boolean)
            pred[0] = (row < rows) & (column < k)
            place = fx.get_iter(source) + (row * pitch + column)
            fx.copy_atom_call(atom, fx.make_view(place, piece), held, pred=pred)
            found.append(held.load())
        return found

    def fragment(tile, row, depth):
        # The swizzle, by hand: three bits of the row go into the chunk.
        chunk = (depth * 4 + lane // 16) ^ (row % 8)
        held = fx.make_rmem_tensor(8, fx.Float16)
        fx.copy_atom_call(atom, fx.make_view(tile + (row * 64 + chunk * 8), piece), held)
        return held.load()

    accs = [[fx.Vector.filled(4, 0.0, fx.Float32) for _ in range(2)] for _ in range(2)]
    coming = [part(a, first_m, m, a_pitch, 0), part(b, first_n, n, b_pitch, 0)]
    for step in range(k // 64):
        now = [tile + step % 2 * 4096 for tile in tiles]
        for tile, values in zip(now, coming, strict=True):
            for i in fx.range_constexpr(2):
                row = i * 32 + thread // 8
                held = fx.make_rmem_tensor(8, fx.Float16)
                held.store(values[i])
                place = tile + (row * 64 + (thread % 8 ^ (row % 8)) * 8)
                fx.copy_atom_call(atom, held, fx.make_view(place, piece))
        fx.barrier()
        coming = [part(a, first_m, m, a_pitch, step + 1), part(b, first_n, n, b_pitch, step + 1)]
        for depth in fx.range_constexpr(2):
            a_held, b_held = [], []
            for i in fx.range_constexpr(2):
                a_held.append(fragment(now[0], i * 32 + wave % 2 * 16 + lane % 16, depth))
                b_held.append(fragment(now[1], i * 32 + wave // 2 * 16 + lane % 16, depth))
            for i in fx.range_constexpr(2):
                for j in fx.range_constexpr(2):
                    accs[i][j] = fx.rocdl.mfma_f32_16x16x32_f16(a_held[i], b_held[j], accs[i][j])
    for i in fx.range_constexpr(2):
        for j in fx.range_constexpr(2):
            column = first_n + j * 32 + wave // 2 * 16 + lane % 16
            for r in fx.range_constexpr(4):
                row = first_m + i * 32 + wave % 2 * 16 + lane // 16 * 4 + r
                if (row < m) & (column < n):
                    c[row, column] = accs[i][j][r]
