"""Every function of `fx.rocdl` on every AMD target: the instruction it becomes, or that it is refused.

LLVM ends the process on an intrinsic that the target lacks, so this runs as a program of its own, one per target:
`python -m tests.unit.rocdl.every_function gfx942` prints a line of JSON per case. `test_targets.py` compares.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.expr import buffer_ops, mem_ops
from flydsl.expr.rocdl import cdna4, cluster, tdm_ops
from flydsl.expr.typing import T
from flydsl.target.scaled_conversions import SCALED_CONVERSIONS
from flydsl.target.target import parse_target
from tests.support import random_data
from tests.unit.rocdl.device_code import AMD, instructions

GFX9, GFX11, GFX12 = AMD[:3], AMD[3:4], AMD[4:]
FP8 = ("gfx942", "gfx950", "gfx1201", "gfx1250")
r = fx.rocdl


@dataclass(frozen=True)
class Case:
    """A kernel body of (input words, output words, thread), and target to what its code must match."""

    name: str
    body: Callable[[Any, Any, Any], None]
    expected: dict[str, str] = field(default_factory=dict)


CASES: list[Case] = []


def case(name: str, expected: dict[Any, str]) -> Callable[[Any], Any]:
    """Register a body; keys of ``expected`` are targets or tuples of them, the others must refuse."""
    flat = {arch: text for archs, text in expected.items() for arch in ((archs,) if isinstance(archs, str) else archs)}

    def register(body: Any) -> Any:
        CASES.append(Case(name, body, flat))
        return body

    return register


def value_case(name: str, expected: dict[Any, str], make: Callable[[Any], Any]) -> None:
    """A function whose 32-bit result is stored."""

    def body(x: Any, y: Any, t: Any) -> None:
        found = make(x[t])
        found = found[0] if isinstance(found, fx.Vector) else found
        if found.dtype.width < 32 and found.dtype.is_float:
            found = found.to(fx.Float32)
        y[t] = found.bitcast(fx.Int32) if found.dtype.width == 32 and found.dtype.is_float else fx.Int32(found)

    case(name, expected)(body)


def effect_case(name: str, expected: dict[Any, str], run: Callable[[], None]) -> None:
    """A function that is there for its effect."""

    def body(x: Any, y: Any, t: Any) -> None:
        found = x[t]
        y[t] = found  # in front of the effect, which else would share a wait with the load
        run()
        y[t + 64] = found

    case(name, expected)(body)


def f32(x: Any) -> Any:
    return x.bitcast(fx.Float32)


# Lanes
value_case("readlane", {AMD: "v_readlane_b32"}, lambda x: r.readlane(x, 3))
value_case("readlane f32", {AMD: "v_readlane_b32"}, lambda x: r.readlane(f32(x), 3))
value_case("readfirstlane", {AMD: "v_readfirstlane_b32"}, lambda x: r.readfirstlane(x))
value_case("ds_bpermute", {AMD: "ds_bpermute_b32"}, lambda x: r.ds_bpermute(x & 60, x))
value_case("ds_permute", {AMD: "ds_permute_b32"}, lambda x: r.ds_permute(x & 60, x))
value_case("ds_swizzle", {AMD: r"ds_swizzle_b32 .*swizzle\(SWAP,1\)"}, lambda x: r.ds_swizzle(x, 0x041F))
value_case("update_dpp", {AMD: "row_shr:1"}, lambda x: r.update_dpp(fx.Int32(7), x, 0x111))
value_case("update_dpp row_share", {("gfx90a", "gfx942", "gfx950"): "row_newbcast:3", GFX11 + GFX12: "row_share:3"},
           lambda x: r.update_dpp(fx.Int32(7), x, 0x153))  # fmt: skip
value_case("update_dpp row_xmask", {GFX11 + GFX12: "row_xmask:5"}, lambda x: r.update_dpp(fx.Int32(7), x, 0x165))
value_case("update_dpp row_bcast", {GFX9: "row_bcast:15"}, lambda x: r.update_dpp(fx.Int32(7), x, 0x142, row_mask=10))
value_case("update_dpp wave_ror", {GFX9: "wave_ror:1"}, lambda x: r.update_dpp(fx.Int32(7), x, 0x13C))
value_case("mov_dpp", {AMD: "quad_perm:"}, lambda x: r.mov_dpp(x, 0x1B))
value_case("permlane16", {GFX11 + GFX12: "v_permlane16_b32"}, lambda x: r.permlane16(x, 0x76543210, 0x01234567))
value_case(
    "permlanex16", {GFX11 + GFX12: "v_permlanex16_b32"}, lambda x: r.permlane16(x, 0x76543210, 0x01234567, across=True)
)
value_case("permlane16_swap", {("gfx950", "gfx1250"): "v_permlane16_swap"}, lambda x: r.permlane16_swap(x, x + 1)[0])
value_case("permlane32_swap", {"gfx950": "v_permlane32_swap"}, lambda x: r.permlane32_swap(x, x + 1)[1])
value_case("ballot", {AMD: "v_cmp_"}, lambda x: r.ballot(x > 3))
value_case("mbcnt", {AMD: "v_mbcnt_lo"}, lambda x: r.mbcnt(r.ballot(x > 3)))
value_case("perm_b32", {AMD: "v_perm_b32"}, lambda x: r.perm_b32(x, x + 1, 0x05040100))
value_case("wave_id", {AMD: "v_readfirstlane_b32"}, lambda x: r.wave_id() + x)
value_case("any", {AMD: "v_cmp_"}, lambda x: fx.Int32(fx.gpu.any(x > 3)))
value_case("all", {AMD: "v_cmp_"}, lambda x: fx.Int32(fx.gpu.all(x > 3)))

# Waits and scheduling
effect_case("s_waitcnt", {GFX9: r"s_waitcnt vmcnt\(3\) lgkmcnt\(2\)", GFX11: r"s_waitcnt vmcnt\(3\) lgkmcnt\(2\)",
                          GFX12: "s_wait_loadcnt_dscnt 0x302"}, lambda: r.s_waitcnt(vmcnt=3, lgkmcnt=2))  # fmt: skip
effect_case("s_waitcnt stores", {GFX9: r"vmcnt\(3\)", GFX11: r"vmcnt\(3\)", GFX12: "s_wait_storecnt 0x3"},
            lambda: r.s_waitcnt(vmcnt=3))  # fmt: skip
effect_case("s_waitcnt ds", {GFX9: r"lgkmcnt\(2\)", GFX11: r"lgkmcnt\(2\)", GFX12: "s_wait_dscnt 0x2"},
            lambda: r.s_waitcnt(lgkmcnt=2))  # fmt: skip
effect_case("cdna3.s_waitcnt", {GFX9: r"vmcnt\(1\)"}, lambda: r.cdna3.s_waitcnt(vmcnt=1))
effect_case("rdna3.s_waitcnt", {GFX11: r"vmcnt\(1\)", GFX12: "s_wait_loadcnt 0x1"}, lambda: r.rdna3.s_waitcnt(vmcnt=1))
effect_case("sched_barrier", {AMD: "."}, lambda: r.sched_barrier(0))
effect_case("sched_group_barrier", {AMD: "."}, lambda: r.sched_group_barrier(8, 1, 0))
effect_case("sched_mfma", {AMD: "."}, lambda: r.sched_mfma(1))
effect_case("sched_vmem", {AMD: "."}, lambda: r.sched_vmem(1))
effect_case("sched_dsrd", {AMD: "."}, lambda: r.sched_dsrd(1))
effect_case("sched_dswr", {AMD: "."}, lambda: r.sched_dswr(1))
effect_case("iglp_opt", {AMD: "."}, lambda: r.iglp_opt(0))
effect_case("s_setprio", {AMD: "s_setprio 2"}, lambda: r.s_setprio(2))
effect_case("s_sleep", {AMD: "s_sleep 5"}, lambda: r.s_sleep(5))
effect_case("s_nop", {AMD: "s_nop 4"}, lambda: r.s_nop(4))
effect_case("s_barrier", {GFX9 + GFX11: "s_barrier", GFX12: "s_barrier_wait -1"}, lambda: r.s_barrier())
effect_case("lds_barrier", {GFX9 + GFX11: "s_barrier", GFX12: "s_barrier_wait -1"}, lambda: r.lds_barrier())
effect_case("lds_barrier_signal", {GFX12: "s_barrier_signal -1"}, lambda: r.lds_barrier_signal())
effect_case("lds_barrier_wait", {GFX12: "s_barrier_wait -1"}, lambda: r.lds_barrier_wait())
effect_case("asyncmark", {"gfx950": "."}, lambda: r.asyncmark())
effect_case("wait_asyncmark", {"gfx950": "."}, lambda: r.wait_asyncmark(0))
effect_case("s_wait_asynccnt", {"gfx1250": "s_wait_asynccnt 0x2"}, lambda: r.s_wait_asynccnt(2))
effect_case("s_wait_tensorcnt", {"gfx1250": "s_wait_tensorcnt 0x2"}, lambda: r.s_wait_tensorcnt(2))
effect_case("disable_xdl_arb_stall", {"gfx1250": r"s_setreg_imm32_b32 hwreg\(HW_REG_WAVE_SCHED_MODE, 2, 1\), 1"},
            lambda: r.disable_xdl_arb_stall())  # fmt: skip


# Arithmetic
def _fast(name: str, kind: Any) -> Callable[[Any], Any]:
    return lambda x: getattr(r, name)(f32(x).to(kind))


for _name in ("exp2", "log2", "rcp", "rsq", "sqrt"):
    _code = f"v_{_name.removesuffix('2')}_"
    value_case(_name, {AMD: f"{_code}f32"}, _fast(_name, fx.Float32))
    value_case(f"{_name} f16", {AMD: f"{_code}f16"}, _fast(_name, fx.Float16))
    value_case(f"{_name} bf16", {"gfx1250": f"{_code}bf16"}, _fast(_name, fx.BFloat16))
value_case("exp2 f64", {}, lambda x: r.exp2(f32(x).to(fx.Float64)).to(fx.Float32))
value_case("rcp f64", {AMD: "v_rcp_f64"}, lambda x: r.rcp(f32(x).to(fx.Float64)).to(fx.Float32))
value_case("fmed3", {GFX9 + GFX11: "v_med3_f32", GFX12: "v_med3_num_f32"}, lambda x: r.fmed3(f32(x), 1.0, f32(x + 1)))
value_case("cvt_pk_fp8_f32", {FP8: "v_cvt_pk_fp8_f32"}, lambda x: r.cvt_pk_fp8_f32(f32(x), 1.0))
value_case("cvt_pk_bf8_f32", {FP8: "v_cvt_pk_bf8_f32"}, lambda x: r.cvt_pk_bf8_f32(f32(x), 1.0, x, True))
value_case("cvt_pk_f32_fp8", {FP8: "v_cvt_pk_f32_fp8"}, lambda x: r.cvt_pk_f32_fp8(x, True))
value_case("cvt_pk_f32_bf8", {FP8: "v_cvt_pk_f32_bf8"}, lambda x: r.cvt_pk_f32_bf8(x))
value_case("cvt_f32_fp8", {FP8: "v_cvt_f32_fp8"}, lambda x: r.cvt_f32_fp8(x, 2))
value_case("cvt_f32_bf8", {FP8: "v_cvt_f32_bf8"}, lambda x: r.cvt_f32_bf8(x, 3))
value_case("cvt_pkrtz", {AMD: "v_cvt_pk_?rtz_f16_f32"}, lambda x: r.cvt_pkrtz(f32(x), f32(x + 1)))
value_case(
    "cvt_pk_bf16_f32", {("gfx950", "gfx1250"): "v_cvt_pk_bf16_f32"}, lambda x: r.cvt_pk_bf16_f32(f32(x), f32(x + 1))
)
value_case("cvt_sr_f32_to_bf16", {"gfx950": "v_cvt_sr_bf16_f32"}, lambda x: cdna4.cvt_sr_f32_to_bf16(f32(x), x))
value_case("cvt_off_f32_i4", {AMD: "v_cvt_off_f32_i4"}, lambda x: r.cvt_off_f32_i4(x, 1))

# Raw buffers


@case("raw_ptr_buffer_load", {GFX9: "buffer_load_dwordx4 .* (nt|slc)", GFX11: "buffer_load_b128 .* slc",
                              GFX12: "buffer_load_b128 .* th:TH_LOAD_HT"})  # fmt: skip
def _raw_load(x: Any, y: Any, t: Any) -> None:
    found = r.raw_ptr_buffer_load(T.f32x4, x, t * 16, 4, 2)
    y[t] = (found[0] + found[1] + found[2] + found[3]).bitcast(fx.Int32)


@case("raw_ptr_buffer_store", {GFX9: "buffer_store_dwordx2", GFX11 + GFX12: "buffer_store_b64"})
def _raw_store(x: Any, y: Any, t: Any) -> None:
    r.raw_ptr_buffer_store(fx.Vector.from_elements([x[t], x[t + 1]], fx.Int32), y, t * 8)


@case("raw_ptr_buffer_load_lds", {GFX9: r"buffer_load_dword .*lds"})
def _raw_load_lds(x: Any, y: Any, t: Any) -> None:
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
    r.raw_ptr_buffer_load_lds(x, tile.ptr, 4, t * 4)
    fx.barrier()
    y[t] = tile[63 - t]


@case("buffer_load_to_lds 16", {"gfx950": r"buffer_load_dwordx4 .*lds"})
def _raw_load_lds_16(x: Any, y: Any, t: Any) -> None:
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 256]).peek()
    r.buffer_load_to_lds(x, tile.ptr, 16, t * 16)
    fx.barrier()
    y[t] = tile[63 - t]


def _fadd(number: Callable[[Any], Any]) -> Any:
    def body(x: Any, y: Any, t: Any) -> None:
        r.raw_ptr_buffer_atomic_fadd(number(f32(x[t])), y, t * 8)

    return body


def _fmax(number: Callable[[Any], Any]) -> Any:
    def body(x: Any, y: Any, t: Any) -> None:
        r.raw_ptr_buffer_atomic_fmax(number(f32(x[t])), y, t * 8)

    return body


def pair(kind: Any) -> Callable[[Any], Any]:
    return lambda x: fx.Vector.from_elements([x, x], fx.Float32).to(kind)


case("atomic_fadd f32", {AMD: "buffer_atomic_add_f32"})(_fadd(lambda x: x))
case("atomic_fadd f64", {GFX9 + ("gfx1250",): "buffer_atomic_add_f64"})(_fadd(lambda x: x.to(fx.Float64)))
case("atomic_fadd f16x2", {GFX9 + GFX12: "buffer_atomic_pk_add_f16"})(_fadd(pair(fx.Float16)))
case("atomic_fadd bf16x2", {("gfx950",) + GFX12: "buffer_atomic_pk_add_bf16"})(_fadd(pair(fx.BFloat16)))
case("atomic_fmax f32", {GFX11 + GFX12: "buffer_atomic_max_(num_)?f32"})(_fmax(lambda x: x))
case("atomic_fmax f64", {GFX9 + ("gfx1250",): "buffer_atomic_max_(num_)?f64"})(_fmax(lambda x: x.to(fx.Float64)))


@case("buffer_ops", {GFX9: "s_buffer_load_dword ", GFX11 + GFX12: "s_buffer_load_b32"})
def _buffer_ops(x: Any, y: Any, t: Any) -> None:
    rsrc = buffer_ops.create_buffer_resource(x, max_size=False)
    found = buffer_ops.buffer_load(rsrc, t, 1, T.i32, mask=t < 9) + buffer_ops.buffer_load(
        rsrc, 3, 1, T.i32, is_scalar=True
    )
    buffer_ops.buffer_store(found, buffer_ops.create_buffer_resource(y), t, mask=t < 8)


@case("mem_ops", {GFX9: "global_atomic_add", GFX11 + GFX12: "global_atomic_add_u32"})
def _mem_ops(x: Any, y: Any, t: Any) -> None:
    mem_ops.global_store(mem_ops.global_load(x, t), mem_ops.extract_global_ptr(y), t)
    mem_ops.atomic_add(y, x[t], t)


# Copies


def copy_case(
    name: str, expected: dict[Any, str], make: Callable[[], Any], dtype: Any = fx.Int32, store: bool = False
) -> None:
    """A buffer copy atom of a tile of a lane's values."""

    def body(x: Any, y: Any, t: Any) -> None:
        op = make()
        count = max(op.bits // dtype.width, 1)
        atom = fx.make_copy_atom(op, dtype)
        tensors = [fx.make_view(fx.recast_iter(dtype, fx.get_iter(m)), fx.make_layout(64 * count, 1)) for m in (x, y)]
        cut = [fx.logical_divide(fx.rocdl.make_buffer_tensor(m), fx.make_layout(count, 1)) for m in tensors]
        held = fx.make_rmem_tensor(count, dtype)
        if store:
            fx.copy_atom_call(fx.make_copy_atom(r.BufferCopy(op.bits), dtype), fx.slice(cut[0], (None, t)), held)
            fx.copy_atom_call(atom, held, fx.slice(cut[1], (None, t)))
        else:
            fx.copy_atom_call(atom, fx.slice(cut[0], (None, t)), held)
            fx.copy_atom_call(fx.make_copy_atom(r.BufferCopy(op.bits), dtype), held, fx.slice(cut[1], (None, t)))

    case(name, expected)(body)


_WIDTHS = {8: ("ubyte", "u8", fx.Int8), 16: ("ushort", "u16", fx.Int16), 32: ("dword ", "b32", fx.Int32),
           64: ("dwordx2", "b64", fx.Int32), 128: ("dwordx4", "b128", fx.Int32)}  # fmt: skip
for _bits, (_old, _new, _kind) in _WIDTHS.items():
    copy_case(f"BufferCopy {_bits}", {GFX9: f"buffer_load_{_old}", GFX11 + GFX12: f"buffer_load_{_new}"},
              lambda b=_bits: r.BufferCopy(b), _kind)  # fmt: skip
copy_case("BufferCopy nt", {"gfx90a": "buffer_load_dword .* slc", ("gfx942", "gfx950"): "buffer_load_dword .* nt",
                            GFX11: "buffer_load_b32 .* slc", GFX12: "buffer_load_b32 .* th:TH_LOAD_HT"},
          lambda: r.BufferCopy32b(2))  # fmt: skip
copy_case("BufferCopy nt store", {GFX9: "buffer_store_dword .* (nt|slc)",
                                  GFX11: "buffer_store_b32 .* slc", GFX12: "buffer_store_b32 .* th:TH_STORE_HT"},
          lambda: r.BufferCopy32b(2), store=True)  # fmt: skip
copy_case("BufferAtomicAdd", {AMD: "buffer_atomic_add_f32"}, lambda: r.BufferAtomicAdd(fx.Float32), fx.Float32, True)
copy_case("BufferAtomicMax i32", {GFX9: "buffer_atomic_smax ", GFX11 + GFX12: "buffer_atomic_max_i32"},
          lambda: r.BufferAtomicMax(fx.Int32), store=True)  # fmt: skip
copy_case("BufferAtomicMin u32", {GFX9: "buffer_atomic_umin ", GFX11 + GFX12: "buffer_atomic_min_u32"},
          lambda: r.BufferAtomicMin(fx.Uint32), fx.Uint32, True)  # fmt: skip
copy_case("BufferAtomicPkAdd f16", {GFX9 + GFX12: "buffer_atomic_pk_add_f16"},
          lambda: r.BufferAtomicPkAdd(fx.Float16), fx.Float16, True)  # fmt: skip
copy_case("BufferAtomicPkAdd bf16", {("gfx950",) + GFX12: "buffer_atomic_pk_add_bf16"},
          lambda: r.BufferAtomicPkAdd(fx.BFloat16), fx.BFloat16, True)  # fmt: skip


def lds_copy_case(name: str, expected: dict[Any, str], make: Callable[[], Any], buffered: bool = True) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        op = make()
        count = op.bits // 32
        atom = fx.make_copy_atom(op, fx.Int32)
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64 * count]).peek()
        layout = fx.make_layout(64 * count, 1)
        source = fx.make_view(fx.get_iter(x), layout)
        source = r.make_buffer_tensor(source) if buffered else source
        cut = [fx.logical_divide(m, fx.make_layout(count, 1)) for m in (source, tile.view(layout))]
        fx.copy_atom_call(atom, fx.slice(cut[0], (None, t)), fx.slice(cut[1], (None, t)))
        fx.barrier()
        y[t] = tile[63 - t]

    case(name, expected)(body)


lds_copy_case("BufferCopyLDS32b", {GFX9: "buffer_load_dword .*lds"}, lambda: r.BufferCopyLDS32b())
lds_copy_case("BufferCopyLDS128b", {"gfx950": "buffer_load_dwordx4 .*lds"}, lambda: r.BufferCopyLDS128b())
lds_copy_case("BufferLoadAsyncLDS96b", {"gfx950": "buffer_load_dwordx3 .*lds"}, lambda: cdna4.BufferLoadAsyncLDS96b())
lds_copy_case(
    "GlobalLoadAsyncLDS128b", {"gfx950": "global_load_lds_dwordx4"}, lambda: cdna4.GlobalLoadAsyncLDS128b(), False
)


@case("LDSReadTrans", {"gfx950": "ds_read_b64_tr_b16"})
def _read_trans(x: Any, y: Any, t: Any) -> None:
    atom = fx.make_copy_atom(cdna4.LDSReadTrans(16, 64), fx.Int16)
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int16, 256]).peek()
    tile[t] = fx.Int16(x[t])
    fx.barrier()
    held = fx.make_rmem_tensor(4, fx.Int16)
    fx.copy_atom_call(atom, fx.make_view(tile.ptr + t * 4, fx.make_layout(4, 1)), held)
    y[t] = fx.Int32(held[0] + held[1] + held[2] + held[3])


def trans_case(name: str, expected: dict[Any, str], read: Callable[[Any, Any], Any]) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 512]).peek()
        tile[t] = x[t]
        fx.barrier()
        y[t] = fx.Int32(read(tile, t).bitcast(fx.Int32)[0])

    case(name, expected)(body)


trans_case("ds_read_tr4_b64", {"gfx950": "ds_read_b64_tr_b4"}, lambda m, t: r.ds_read_tr4_b64(T.i32x2, m.ptr + t * 2))
trans_case(
    "ds_read_tr6_b96", {"gfx950": "ds_read_b96_tr_b6"}, lambda m, t: r.ds_read_tr6_b96(T.vec(3, T.i32), m.ptr + t * 3)
)
trans_case("ds_read_tr8_b64", {"gfx950": "ds_read_b64_tr_b8"}, lambda m, t: r.ds_read_tr8_b64(T.i8x8, m.ptr + t * 2))
trans_case("lds_transpose_load 8", {"gfx950": "ds_read_b64_tr_b8", "gfx1250": "ds_load_tr8_b64"},
           lambda m, t: r.lds_transpose_load(T.i8x8, fx.recast_iter(fx.Int8, m.ptr), t * 8, 1))  # fmt: skip
trans_case("lds_transpose_load 16", {"gfx1250": "ds_load_tr16_b128"},
           lambda m, t: r.lds_transpose_load(T.f16x8, fx.recast_iter(fx.Float16, m.ptr), t * 8, 2))  # fmt: skip

# gfx1250
value_case("cluster_workgroup_id_x", {"gfx1250": "ttmp6"}, lambda x: r.cluster_workgroup_id_x() + x)
value_case("cluster_workgroup_id_y", {"gfx1250": "ttmp6"}, lambda x: r.cluster_workgroup_id_y() + x)
value_case("cluster_workgroup_id_z", {"gfx1250": "ttmp6"}, lambda x: r.cluster_workgroup_id_z() + x)
effect_case("cluster_barrier", {"gfx1250": "s_barrier_signal -3"}, lambda: cluster.cluster_barrier())


@case("cluster_load_async_to_lds", {"gfx1250": "cluster_load_async_to_lds_b32"})
def _cluster_load(x: Any, y: Any, t: Any) -> None:
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
    r.cluster_load_async_to_lds(fx.get_iter(x) + t, tile.ptr + t, 4)
    r.s_wait_asynccnt(0)
    y[t] = tile[t]


@case("make_tdm_atom", {"gfx1250": "tensor_load_to_lds"})
def _tdm_atom(x: Any, y: Any, t: Any) -> None:
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
    source = fx.make_view(fx.get_iter(x), fx.make_layout((4, 16), (16, 1)))
    fx.copy(r.make_tdm_atom(source, [3, None], num_warps=1), source, tile.view(fx.make_layout((4, 16), (16, 1))))
    tdm_ops.tensor_wait(0)
    y[t] = tile[t]


@case("tdm_ops", {"gfx1250": "tensor_store_from_lds"})
def _tdm_ops(x: Any, y: Any, t: Any) -> None:
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek()
    rows = [fx.Int32(i) for i in (3, 1)]
    tdm_ops.tensor_load_gather(tdm_ops.make_tensor_gather_descriptor(x, tile.ptr, rows, 16, 16, 4, 16, 4))
    tdm_ops.tensor_wait(0)
    tdm_ops.l2_prefetch_tile(x, (0, 0), (4, 16), (16, 1), 4)
    desc = tdm_ops.make_tensor_descriptor_2d(y, tile.ptr, (0, 0), (4, 16), (16, 1), (4, 16), 4)
    tdm_ops.tensor_store_2d(desc)
    tdm_ops.tensor_wait(0)


# Scaled conversions, from their table


def _scaled(facts: Any) -> Callable[[Any, Any, Any], None]:
    def operand(type_: str, word: Any) -> Any:
        if type_ == "flag":
            return False
        if type_.startswith("sel"):
            return 1
        if not type_.startswith("vector"):
            return word if type_ == "i32" else f32(word).to(fx.Numeric.from_ir_type(type_))
        count, element = type_[7:-1].split("x", 1)
        kind = fx.Numeric.from_ir_type(element)
        one = f32(word).to(kind) if kind.is_float else kind(word)
        return fx.Vector.from_elements([one] * int(count), kind)

    def body(x: Any, y: Any, t: Any) -> None:
        found = getattr(r, facts.name)(*(operand(type_, x[t] + i) for i, type_ in enumerate(facts.operands)))
        found = found if isinstance(found, fx.Vector) else fx.Vector.from_elements([found], found.dtype)
        words = found.bitcast(fx.Int32)
        total = words[0]
        for i in range(1, words.numel):
            total = total ^ words[i]
        y[t] = total

    return body


_ARCH = {"cdna4": "gfx950", "cdna5": "gfx1250"}
for _facts in SCALED_CONVERSIONS.values():
    case(_facts.name, {_ARCH[_facts.generation]: f"v_{_facts.name}"})(_scaled(_facts))


def cases_on(arch: str) -> list[Case]:
    """Return those of a target in this run: every function is on one target that has it and on one that lacks it,
    others from seed to seed. In `make thorough` it is on all."""

    def turn(number: int, targets: list[str]) -> list[str]:
        return targets if os.environ.get("FLYDSL_TEST_ALL") or not targets else [targets[number % len(targets)]]

    return [
        one
        for number, one in enumerate(CASES, random_data.SEED)
        if arch
        in turn(number, [target for target in AMD if target in one.expected])
        + turn(number, [target for target in AMD if target not in one.expected])
    ]


def main(arch: str) -> None:
    parse_target(arch)
    for one in cases_on(arch):
        print(json.dumps({"starts": one.name}), flush=True)
        try:
            print(json.dumps({"name": one.name, "code": instructions(one.body, arch, threads=128)}), flush=True)
        except FlyDSLError as error:
            print(json.dumps({"name": one.name, "refused": str(error)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
