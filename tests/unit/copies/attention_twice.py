"""Flash attention written twice: f16 heads of 64 elements, any number of queries and keys, for two targets.

``factor`` is the scale of the scores times log2(e). A block's waves have their own queries and share tiles of 64 keys
in shared memory.
"""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx

NEVER = float("-inf")

# Hopper: a warp has 16 queries, scores are Q K^T, and four lanes share two rows of them ----------------------


@flyc.kernel
def hopper_short(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, out: fx.Tensor, factor: fx.Float32):
    thread, shared, block = fx.thread_idx.x, fx.SharedAllocator(), fx.block_idx.x
    q, k, v, out = (t[fx.block_idx.y, None, None] for t in (q, k, v, out))
    swizzle, half = fx.make_swizzle(3, 3, 3), fx.Float16
    space = [shared.allocate(fx.Array[half, 4096, 128]).ptr for _ in range(2)]
    rows, columns = (fx.make_composed_layout(swizzle, fx.make_layout((64, 64), s)) for s in ((64, 1), (1, 64)))
    threads, eight = fx.make_layout((16, 8), (8, 1)), fx.make_layout((1, 8), (8, 1))
    mover = fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy128b(), half), threads, eight).get_slice(thread)
    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, half))
    mma = fx.make_tiled_mma(product, fx.make_layout((4, 1, 1), (1, 0, 0)), (64, 16, 16))
    mine, square = mma.get_slice(thread), fx.make_identity_tensor((64, 64))
    queries, held, powers = mma.make_fragment_A(square), mma.make_fragment_B(square), mma.make_fragment_A(square)
    scores, found = mma.make_fragment_C(square), mma.make_fragment_C(square)
    queries.store(fx.tile_part(mine.partition_A, q, (64, 64), (block, 0)).load())
    found.fill(0)
    top, total = fx.Vector.filled((1, 2, 1), NEVER, fx.Float32), fx.Vector.filled((1, 2, 1), 0.0, fx.Float32)

    def by_row(values, op):
        return fx.Vector(
            [fx.coop.warp_reduce(values.reshape(8, 2, 2)[None, i, None].reduce(op), op, width=4) for i in range(2)],
            (1, 2, 1),
        )

    def multiply(into, left, pointer, layout):
        atom = fx.make_copy_atom(fx.nvvm.LdMatrix(4, transposed=layout is columns), half)
        tiled = fx.make_tiled_copy_B(atom, mma)
        lanes = tiled.get_slice(thread)
        fx.copy(tiled, lanes.partition_S(fx.make_view(pointer, layout)), lanes.retile(held))
        fx.gemm(mma, into, left, held, into)

    for step in range(fx.ceildiv(fx.get_scalar(k.shape[0]), 64)):
        fx.barrier()
        for source, pointer in zip((k, v), space, strict=True):
            part = fx.tile_part(mover.partition_S, source, (64, 64), (step, 0))
            mover.partition_D(fx.make_view(pointer, rows)).store(part.load())
        fx.barrier()
        scores.fill(0)
        multiply(scores, queries, space[0], rows)
        there = fx.inside(mine.partition_C(fx.tile_coordinates((64, 64), (0, step))), (None, k.shape[0]))
        now = there.load().select(scores.load() * factor, NEVER).reshape(2, 2, 8)
        highest = fx.maxnumf(top, by_row(now, "max"))
        now, shrink, top = fx.exp2(now - highest), fx.exp2(top - highest), highest
        total = total * shrink + by_row(now, "add")
        found.store((found.load().reshape(2, 2, 8) * shrink).reshape(found.load().shape))
        powers.store(now.to(half).reshape(powers.load().shape))
        multiply(found, powers, space[1], columns)
    corner = mine.partition_C(fx.tile_coordinates((64, 64), (block, 0)))
    fx.epilogue.Store(out)(found.load().reshape(2, 2, 8) / total, corner, out.shape)


@flyc.kernel
def hopper_by_hand(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, out: fx.Tensor, factor: fx.Float32):
    thread, shared, half = fx.thread_idx.x, fx.SharedAllocator(), fx.Float16
    lane, warp = thread % 32, thread // 32
    count, keys = fx.get_scalar(q.shape[1]), fx.get_scalar(k.shape[1])
    q_start, k_start, v_start, out_start = (fx.get_iter(t[fx.block_idx.y, None, None]) for t in (q, k, v, out))
    k_space, v_space = (shared.allocate(fx.Array[half, 4096, 128]).ptr for _ in range(2))
    product = fx.make_mma_atom(fx.nvvm.MmaSync(16, 8, 16, half))
    wide, narrow = (fx.make_copy_atom(op(), half) for op in (fx.UniversalCopy128b, fx.UniversalCopy32b))
    eight, two = fx.make_layout(8, 1), fx.make_layout(2, 1)
    first = fx.block_idx.x * 64 + warp * 16
    queries = []
    for depth in fx.range_constexpr(4):
        pairs = []
        for part in fx.range_constexpr(4):
            row, column = first + part % 2 * 8 + lane // 4, depth * 16 + part // 2 * 8 + lane % 4 * 2
            held = fx.make_rmem_tensor(2, half)
            held.fill(0)
            pred = fx.make_rmem_tensor(1, fx.Boolean)
            pred[0] = row < count
            fx.copy_atom_call(narrow, fx.make_view(q_start + (row * 64 + column), two), held, pred=pred)
            pairs += [held.load()[0], held.load()[1]]
        queries.append(fx.Vector(pairs))

    def multiply(acc, left, right):
        a_held, b_held = fx.make_rmem_tensor(8, half), fx.make_rmem_tensor(4, half)
        a_held.store(left)
        b_held.store(right)
        fx.mma_atom_call(product, acc, a_held, b_held, acc)

    found = [fx.make_rmem_tensor(4, fx.Float32) for _ in range(8)]
    scores = [fx.make_rmem_tensor(4, fx.Float32) for _ in range(8)]
    for n in fx.range_constexpr(8):
        found[n].fill(0)
    tops = [fx.Float32(NEVER), fx.Float32(NEVER)]
    totals = [fx.Float32(0.0), fx.Float32(0.0)]
    for step in range(fx.ceildiv(keys, 64)):
        fx.barrier()
        for start, space in ((k_start, k_space), (v_start, v_space)):
            for i in fx.range_constexpr(4):
                row, chunk = i * 16 + thread // 8, thread % 8
                held = fx.make_rmem_tensor(8, half)
                held.fill(0)
                pred = fx.make_rmem_tensor(1, fx.Boolean)
                pred[0] = step * 64 + row < keys
                place = start + ((step * 64 + row) * 64 + chunk * 8)
                fx.copy_atom_call(wide, fx.make_view(place, eight), held, pred=pred)
                # The swizzle, by hand: three bits of the row go into the chunk.
                fx.copy_atom_call(wide, held, fx.make_view(space + (row * 64 + (chunk ^ row % 8) * 8), eight))
        fx.barrier()
        for n in fx.range_constexpr(8):
            scores[n].fill(0)
        for depth in fx.range_constexpr(4):
            for n in fx.range_constexpr(4):
                row = n * 16 + lane // 16 * 8 + lane % 8
                chunk = (depth * 2 + lane // 8 % 2) ^ row % 8
                words = fx.nvvm.ldmatrix(k_space + (row * 64 + chunk * 8), 4)
                for i in fx.range_constexpr(2):
                    right = fx.Vector([words[2 * i], words[2 * i + 1]]).bitcast(half)
                    multiply(scores[n * 2 + i], queries[depth], right)
        powers = [[], []]
        for half_row in fx.range_constexpr(2):
            rows = []
            for n in fx.range_constexpr(8):
                for i in fx.range_constexpr(2):
                    key = step * 64 + n * 8 + lane % 4 * 2 + i
                    rows.append((key < keys).select(scores[n].load()[half_row * 2 + i] * factor, fx.Float32(NEVER)))
            values = fx.Vector(rows)
            highest = values.reduce("max")
            for distance in (2, 1):
                highest = fx.maxnumf(highest, fx.shuffle_xor(highest, distance, 32))
            highest = fx.maxnumf(tops[half_row], highest)
            values, shrink = fx.exp2(values - highest), fx.exp2(tops[half_row] - highest)
            tops[half_row] = highest
            more = values.reduce("add")
            for distance in (2, 1):
                more = more + fx.shuffle_xor(more, distance, 32)
            totals[half_row] = totals[half_row] * shrink + more
            for n in fx.range_constexpr(8):
                for i in fx.range_constexpr(2):
                    found[n][half_row * 2 + i] = found[n][half_row * 2 + i] * shrink
            powers[half_row] = values.to(half)
        for depth in fx.range_constexpr(4):
            places = [(row, depth * 4 + part * 2 + i) for part in range(2) for row in range(2) for i in range(2)]
            left = fx.Vector([powers[row][place] for row, place in places])
            for n in fx.range_constexpr(4):
                row = depth * 16 + lane // 8 % 2 * 8 + lane % 8
                chunk = (n * 2 + lane // 16) ^ row % 8
                words = fx.nvvm.ldmatrix(v_space + (row * 64 + chunk * 8), 4, transposed=True)
                for i in fx.range_constexpr(2):
                    right = fx.Vector([words[2 * i], words[2 * i + 1]]).bitcast(half)
                    multiply(found[n * 2 + i], left, right)
    for n in fx.range_constexpr(8):
        for half_row in fx.range_constexpr(2):
            row, column = first + half_row * 8 + lane // 4, n * 8 + lane % 4 * 2
            pair = fx.Vector([found[n][half_row * 2 + i] / totals[half_row] for i in range(2)]).to(half)
            place = fx.make_view((out_start + (row * 64 + column)).aligned(4), two)
            place.store(pair, mask=row < count)


# gfx950: a wave has 32 queries, products are transposed, so that a lane has one query and half its scores ----------


@flyc.kernel
def cdna_short(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, out: fx.Tensor, factor: fx.Float32):
    thread, shared, block, half = fx.thread_idx.x, fx.SharedAllocator(), fx.block_idx.x, fx.Float16
    q, k, v, out = (t[fx.block_idx.y, None, None] for t in (q, k, v, out))
    # Keys in the order in which a lane of the first product has them: sums do not mind.
    shapes = (((64, 64), (64, 1)), ((64, ((4, 2, 2), 4)), (1, ((64, 512, 256), 1024))))
    rows, turned = (fx.make_composed_layout(fx.make_swizzle(3, 3, 3), fx.make_layout(*s)) for s in shapes)
    tiles = [fx.make_view(shared.allocate(fx.Array[half, 4096, 128]).ptr, rows) for _ in range(2)]
    threads, eight, waves = (fx.make_layout(*s) for s in (((32, 8), (8, 1)), ((1, 8), (8, 1)), ((1, 4, 1), (0, 1, 0))))
    mover = fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy128b(), half), threads, eight).get_slice(thread)
    mma = fx.make_tiled_mma(fx.make_mma_atom(fx.rocdl.cdna4.MFMA(32, 32, 16, half)), waves)
    move = fx.make_tiled_copy_A(fx.make_copy_atom(fx.rocdl.cdna4.LDSReadTrans(16, 64), half), mma)
    mine, lanes, tall = mma.get_slice(thread), move.get_slice(thread), fx.make_identity_tensor((64, 128))
    held, queries = mma.make_fragment_A(fx.make_identity_tensor((64, 64))), mma.make_fragment_B(tall.T)
    scores, found, powers = mma.make_fragment_C(tall), mma.make_fragment_C(tall), mma.make_fragment_B(tall.T)
    queries.store(fx.tile_part(mine.partition_B, q, (128, 64), (block, 0)).load())
    found.fill(0)
    top, total = fx.Float32(NEVER), fx.Float32(0.0)
    for step in range(fx.ceildiv(fx.get_scalar(k.shape[0]), 64)):
        fx.barrier()
        for source, tile in zip((k, v), tiles, strict=True):
            mover.partition_D(tile).store(fx.tile_part(mover.partition_S, source, (64, 64), (step, 0)).load())
        fx.barrier()
        scores.fill(0)
        fx.copy(mine.partition_A(tiles[0]), held)
        fx.gemm(mma, scores, held, queries, scores)
        there = fx.inside(mine.partition_C(fx.tile_coordinates((64, 128), (step, 0))), (k.shape[0], None))
        now = there.load().select(scores.load() * factor, NEVER)
        highest = fx.maxnumf(top, fx.coop.warp_reduce(now.reduce("max"), "max", stride=32))
        now, shrink, top = fx.exp2(now - highest), fx.exp2(top - highest), highest
        total = total * shrink + now.reduce("add")
        found.store(found.load() * shrink)
        powers.store(now.to(half).reshape(powers.load().shape))
        fx.copy(move, lanes.partition_S(fx.make_view(fx.get_iter(tiles[1]), turned)), lanes.retile(held))
        fx.gemm(mma, found, held, powers, found)
    corner, total = fx.tile_coordinates((64, 128), (0, block)), fx.coop.warp_reduce(total, "add", stride=32)
    fx.epilogue.Store(out.T)(found.load() / total, mine.partition_C(corner), out.T.shape)


@flyc.kernel
def cdna_by_hand(q: fx.Tensor, k: fx.Tensor, v: fx.Tensor, out: fx.Tensor, factor: fx.Float32):
    thread, shared, half = fx.thread_idx.x, fx.SharedAllocator(), fx.Float16
    lane, wave = thread % 64, thread // 64
    count, keys = fx.get_scalar(q.shape[1]), fx.get_scalar(k.shape[1])
    q_start, k_start, v_start, out_start = (fx.get_iter(t[fx.block_idx.y, None, None]) for t in (q, k, v, out))
    k_space, v_space = (shared.allocate(fx.Array[half, 4096, 128]).ptr for _ in range(2))
    wide, eight = fx.make_copy_atom(fx.UniversalCopy128b(), half), fx.make_layout(8, 1)
    query = fx.block_idx.x * 128 + wave * 32 + lane % 32
    queries = []
    for depth in fx.range_constexpr(4):
        held = fx.make_rmem_tensor(8, half)
        held.fill(0)
        pred = fx.make_rmem_tensor(1, fx.Boolean)
        pred[0] = query < count
        place = q_start + (query * 64 + depth * 16 + lane // 32 * 8)
        fx.copy_atom_call(wide, fx.make_view(place, eight), held, pred=pred)
        queries.append(held.load())
    found = [fx.Vector.filled(16, 0.0, fx.Float32) for _ in range(2)]
    top, total = fx.Float32(NEVER), fx.Float32(0.0)
    for step in range(fx.ceildiv(keys, 64)):
        fx.barrier()
        for start, space in ((k_start, k_space), (v_start, v_space)):
            for i in fx.range_constexpr(2):
                row, chunk = i * 32 + thread // 8, thread % 8
                held = fx.make_rmem_tensor(8, half)
                held.fill(0)
                pred = fx.make_rmem_tensor(1, fx.Boolean)
                pred[0] = step * 64 + row < keys
                place = start + ((step * 64 + row) * 64 + chunk * 8)
                fx.copy_atom_call(wide, fx.make_view(place, eight), held, pred=pred)
                # The swizzle, by hand: three bits of the row go into the chunk.
                fx.copy_atom_call(wide, held, fx.make_view(space + (row * 64 + (chunk ^ row % 8) * 8), eight))
        fx.barrier()
        values = []
        for m in fx.range_constexpr(2):
            scores = fx.Vector.filled(16, 0.0, fx.Float32)
            for depth in fx.range_constexpr(4):
                row = m * 32 + lane % 32
                held = fx.make_rmem_tensor(8, half)
                place = k_space + (row * 64 + ((depth * 2 + lane // 32) ^ row % 8) * 8)
                fx.copy_atom_call(wide, fx.make_view(place, eight), held)
                scores = fx.rocdl.mfma_f32_32x32x16_f16(held.load(), queries[depth], scores)
            for r in fx.range_constexpr(16):
                key = step * 64 + m * 32 + r // 4 * 8 + lane // 32 * 4 + r % 4
                values.append((key < keys).select(scores[r] * factor, fx.Float32(NEVER)))
        now = fx.Vector(values)
        own = fx.maxnumf(top, now.reduce("max"))
        highest = fx.maxnumf(own, fx.shuffle_xor(own, 32, 64))
        now, shrink, top = fx.exp2(now - highest), fx.exp2(top - highest), highest
        total = total * shrink + now.reduce("add")
        powers = now.to(half)
        for m in fx.range_constexpr(2):
            found[m] = found[m] * shrink
            for depth in fx.range_constexpr(4):
                four = []
                for i in fx.range_constexpr(2):
                    # Lanes that exchange read 4 keys of 16 elements, 4 elements a lane.
                    row = depth * 16 + i * 8 + lane // 32 * 4 + lane % 16 // 4
                    column = m * 32 + lane // 16 % 2 * 16 + lane % 4 * 4
                    place = v_space + (row * 64 + (column // 8 ^ row % 8) * 8 + column % 8)
                    four.append(fx.rocdl.ds_read_tr16_b64(fx.Vector.make_type(4, half), place))
                left = four[0].shuffle(four[1], range(8))
                right = powers.shuffle(powers, range(depth * 8, depth * 8 + 8))
                found[m] = fx.rocdl.mfma_f32_32x32x16_f16(left, right, found[m])
    total = total + fx.shuffle_xor(total, 32, 64)
    for m in fx.range_constexpr(2):
        for r in fx.range_constexpr(4):
            column = m * 32 + r * 8 + lane // 32 * 4
            four = (found[m].shuffle(found[m], range(r * 4, r * 4 + 4)) / total).to(half)
            place = fx.make_view((out_start + (query * 64 + column)).aligned(8), fx.make_layout(4, 1))
            place.store(four, mask=query < count)
