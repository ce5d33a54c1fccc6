"""Every operation of the raw layer as one row of text: its names, what it takes, what it gives.

    ClassName  function  operand other* maybe? -> result  attribute:kind?

Arguments come in this order, positionally or by name; a result whose type cannot be implied comes before all of them.

- ``x`` is an operand, ``x?`` one that may be missing, ``x*`` a list of them, ``~x`` one whose type is its own where all
  others must agree with the result.
- ``x:kind`` is an attribute, and may be missing if a ``?`` follows. `attribute_kinds` says what each kind takes.
- ``-> x`` gives the type of operand x, ``-> i1(x)`` the same shape of i1, ``-> elem(x)`` its element, ``-> 'i32'`` that
  type, ``-> :name`` a type that the caller gives as its first argument, which may be None for ``-> :name?``.
  ``-> first=x second='i1'`` gives two results by name.

- ``on=cdna4,cdna5`` names the generations that have it; without it all of the dialect's targets do.

An IR name that is not ``dialect.function`` stands in parentheses behind the function's name.
"""

from __future__ import annotations

ARITH = """
AddIOp              addi           lhs rhs overflowFlags:overflow? -> lhs
SubIOp              subi           lhs rhs overflowFlags:overflow? -> lhs
MulIOp              muli           lhs rhs overflowFlags:overflow? -> lhs
DivSIOp             divsi          lhs rhs -> lhs
DivUIOp             divui          lhs rhs -> lhs
RemSIOp             remsi          lhs rhs -> lhs
RemUIOp             remui          lhs rhs -> lhs
FloorDivSIOp        floordivsi     lhs rhs -> lhs
CeilDivSIOp         ceildivsi      lhs rhs -> lhs
CeilDivUIOp         ceildivui      lhs rhs -> lhs
AndIOp              andi           lhs rhs -> lhs
OrIOp               ori            lhs rhs -> lhs
XOrIOp              xori           lhs rhs -> lhs
ShLIOp              shli           lhs rhs overflowFlags:overflow? -> lhs
ShRSIOp             shrsi          lhs rhs -> lhs
ShRUIOp             shrui          lhs rhs -> lhs
MaxSIOp             maxsi          lhs rhs -> lhs
MaxUIOp             maxui          lhs rhs -> lhs
MinSIOp             minsi          lhs rhs -> lhs
MinUIOp             minui          lhs rhs -> lhs
AddFOp              addf           lhs rhs fastmath:fastmath? -> lhs
SubFOp              subf           lhs rhs fastmath:fastmath? -> lhs
MulFOp              mulf           lhs rhs fastmath:fastmath? -> lhs
DivFOp              divf           lhs rhs fastmath:fastmath? -> lhs
RemFOp              remf           lhs rhs fastmath:fastmath? -> lhs
MaximumFOp          maximumf       lhs rhs fastmath:fastmath? -> lhs
MinimumFOp          minimumf       lhs rhs fastmath:fastmath? -> lhs
MaxNumFOp           maxnumf        lhs rhs fastmath:fastmath? -> lhs
MinNumFOp           minnumf        lhs rhs fastmath:fastmath? -> lhs
NegFOp              negf           operand fastmath:fastmath? -> operand
CmpIOp              cmpi           predicate:cmpi lhs rhs -> i1(lhs)
CmpFOp              cmpf           predicate:cmpf lhs rhs fastmath:fastmath? -> i1(lhs)
SelectOp            select         ~condition true_value false_value -> true_value
ExtSIOp             extsi          in_ -> :out
ExtUIOp             extui          in_ -> :out
TruncIOp            trunci         in_ overflowFlags:drop? -> :out
ExtFOp              extf           in_ fastmath:drop? -> :out
TruncFOp            truncf         in_ roundingmode:rounding? fastmath:drop? -> :out
SIToFPOp            sitofp         in_ -> :out
UIToFPOp            uitofp         in_ -> :out
FPToSIOp            fptosi         in_ -> :out
FPToUIOp            fptoui         in_ -> :out
IndexCastOp         index_cast     in_ -> :out
IndexCastUIOp       index_castui   in_ -> :out
BitcastOp           bitcast        in_ -> :out
AddUIExtendedOp     addui_extended   lhs rhs -> sum=lhs overflow=i1(lhs)
MulSIExtendedOp     mulsi_extended   lhs rhs -> low=lhs high=lhs
MulUIExtendedOp     mului_extended   lhs rhs -> low=lhs high=lhs
"""

_ONE_FLOAT = """
AbsF Acos Acosh Asin Asinh Atan Atanh Cbrt Ceil Cos Cosh Erf Erfc Exp Exp2 ExpM1 Floor Log Log10 Log1p Log2
Round RoundEven Rsqrt Sin Sinh Sqrt Tan Tanh Trunc
"""
_ASKED_OF_FLOATS = "IsNaN IsInf IsFinite IsNormal"

MATH = "\n".join((
    *(f"{name}Op {name.lower()} operand fastmath:fastmath? -> operand" for name in _ONE_FLOAT.split()),
    *(f"{name}Op {name.lower()} operand fastmath:fastmath? -> i1(operand)" for name in _ASKED_OF_FLOATS.split()),
)) + """
AbsIOp              absi           operand -> operand
CountLeadingZerosOp ctlz           operand -> operand
CountTrailingZerosOp cttz          operand -> operand
CtPopOp             ctpop          operand -> operand
Atan2Op             atan2          lhs rhs fastmath:fastmath? -> lhs
CopySignOp          copysign       lhs rhs fastmath:fastmath? -> lhs
PowFOp              powf           lhs rhs fastmath:fastmath? -> lhs
IPowIOp             ipowi          lhs rhs -> lhs
FPowIOp             fpowi          lhs ~rhs fastmath:fastmath? -> lhs
FmaOp               fma            a b c fastmath:fastmath? -> a
ClampFOp            clampf         value min max fastmath:fastmath? -> value
SincosOp            sincos         operand fastmath:fastmath? -> sin=operand cos=operand
"""  # fmt: skip

VECTOR = """
FromElementsOp      from_elements  ~elements* -> :dest
BitCastOp           bitcast        ~source -> :result
BroadcastOp         broadcast      ~source -> :vector
ShapeCastOp         shape_cast     ~source -> :result
ExtractOp           extract        source ~dynamic_position* static_position:places -> elem(source)
InsertOp            insert         ~value_to_store dest ~dynamic_position* static_position:places -> dest
ShuffleOp           shuffle        ~v1 ~v2 mask:i64s -> lanes(v1, mask)
ReductionOp         reduction      kind:kind ~vector ~acc? fastmath:fastmath? -> :dest
ExtractStridedSliceOp extract_strided_slice ~vector offsets:array sizes:array strides:array -> :result
InsertStridedSliceOp  insert_strided_slice  ~value_to_store dest offsets:array strides:array -> dest
FMAOp               fma            lhs rhs acc -> lhs
"""

_LLVM_SCOPES = "access_groups:drop? alias_scopes:drop? noalias_scopes:drop? tbaa:drop?"
_LLVM_ACCESS = (
    "alignment:i64? volatile_:unit? nontemporal:unit? invariant:unit? invariantGroup:drop? ordering:ordering? "
    f"syncscope:str? {_LLVM_SCOPES} dereferenceable:drop?"
)
_LLVM_FAMILIES = (
    ("AddOp:add SubOp:sub MulOp:mul ShlOp:shl", "lhs rhs overflowFlags:llvm_overflow? -> res=lhs"),
    (
        "UDivOp:udiv SDivOp:sdiv URemOp:urem SRemOp:srem AndOp:and OrOp:or XOrOp:xor LShrOp:lshr AShrOp:ashr",
        "lhs rhs flag:drop? -> res=lhs",
    ),
    ("FAddOp:fadd FSubOp:fsub FMulOp:fmul FDivOp:fdiv FRemOp:frem", "lhs rhs fastmathFlags:llvm_fastmath? -> res=lhs"),
    (
        "TruncOp:trunc ZExtOp:zext SExtOp:sext SIToFPOp:sitofp UIToFPOp:uitofp FPToSIOp:fptosi FPToUIOp:fptoui "
        "FPExtOp:fpext FPTruncOp:fptrunc BitcastOp:bitcast IntToPtrOp:inttoptr PtrToIntOp:ptrtoint "
        "AddrSpaceCastOp:addrspacecast",
        "arg flag:drop? -> res=:res",
    ),
    (
        "SMaxOp:intr_smax SMinOp:intr_smin UMaxOp:intr_umax UMinOp:intr_umin MinNumOp:intr_minnum "
        "MaxNumOp:intr_maxnum MinimumOp:intr_minimum MaximumOp:intr_maximum PowOp:intr_pow CopySignOp:intr_copysign",
        "a b fastmathFlags:llvm_fastmath? -> res=a",
    ),
    (
        "FAbsOp:intr_fabs SqrtOp:intr_sqrt ExpOp:intr_exp Exp2Op:intr_exp2 LogOp:intr_log Log2Op:intr_log2 "
        "SinOp:intr_sin CosOp:intr_cos FFloorOp:intr_floor FCeilOp:intr_ceil FTruncOp:intr_trunc RintOp:intr_rint",
        "in_ fastmathFlags:llvm_fastmath? -> res=in_",
    ),
)
"""Operations of one form, as ``Class:function``."""


def _family(names: str, rest: str) -> list[str]:
    """Return one row for each name; ``intr_x`` is ``llvm.intr.x``, and a word of Python's gets an underscore."""
    rows = []
    for name in names.split():
        kind, _, function = name.partition(":")
        python = f"{function}_" if function in ("and", "or") else function
        rows.append(f"{kind} {python}(llvm.{function.replace('intr_', 'intr.')}) {rest}")
    return rows


LLVM = "\n".join(row for names, rest in _LLVM_FAMILIES for row in _family(names, rest)) + f"""
FNegOp              fneg           operand fastmathFlags:llvm_fastmath? -> res=operand
FMAOp               intr_fma(llvm.intr.fma) a b c fastmathFlags:llvm_fastmath? -> res=a
ExpectOp            intr_expect(llvm.intr.expect) val expected -> res=val
ICmpOp              icmp           predicate:cmpi_number lhs rhs -> res=i1(lhs)
FCmpOp              fcmp           predicate:cmpf_number lhs rhs fastmathFlags:llvm_fastmath? -> res=i1(lhs)
SelectOp            select         ~condition true_value false_value fastmathFlags:drop? -> res=true_value
FreezeOp            freeze         val -> res=val
LoadOp              load           addr {_LLVM_ACCESS} -> res=:res
StoreOp             store          ~value ~addr {_LLVM_ACCESS}
AtomicRMWOp         atomicrmw      bin_op:binop ~ptr val ordering:ordering syncscope:str? alignment:i64? \
    volatile_:unit? {_LLVM_SCOPES} -> res=val
FenceOp             fence          ordering:ordering syncscope:str?
GEPOp               getelementptr  ~base ~dynamicIndices* rawConstantIndices:i32s elem_type:type \
    noWrapFlags:gep_flags? -> res=:res
AllocaOp            alloca         ~arraySize elem_type:type alignment:i64? -> res=:res
ExtractValueOp      extractvalue   ~container position:i64s -> res=:res
InsertValueOp       insertvalue    container ~value position:i64s -> res=container
ExtractElementOp    extractelement ~vector ~position -> res=elem(vector)
InsertElementOp     insertelement  vector ~value ~position -> res=vector
UndefOp             mlir_undef(llvm.mlir.undef)   -> res=:res
PoisonOp            mlir_poison(llvm.mlir.poison) -> res=:res
ZeroOp              mlir_zero(llvm.mlir.zero)     -> res=:res
"""  # fmt: skip

GPU = """
ThreadIdOp          thread_id      dimension:dimension -> 'index'
BlockIdOp           block_id       dimension:dimension -> 'index'
BlockDimOp          block_dim      dimension:dimension -> 'index'
GridDimOp           grid_dim       dimension:dimension -> 'index'
LaneIdOp            lane_id        upper_bound:drop? -> 'index'
BarrierOp           barrier        address_spaces:drop?
ShuffleOp           shuffle        value ~offset ~width mode:mode -> shuffleResult=value valid='i1'
"""

ROCDL = """
MakeBufferRsrcOp    make_buffer_rsrc        base stride numRecords flags -> res=:res
RawPtrBufferLoadOp  raw_ptr_buffer_load     rsrc offset soffset aux:i32 alias_scopes:drop? \
    noalias_scopes:drop? -> res=:res
RawPtrBufferStoreOp raw_ptr_buffer_store    vdata rsrc offset soffset aux:i32 alias_scopes:drop? \
    noalias_scopes:drop?
RawPtrBufferAtomicFaddOp raw_ptr_buffer_atomic_fadd vdata rsrc offset soffset aux:i32 -> vdata
RawPtrBufferLoadLdsOp raw_ptr_buffer_load_lds rsrc ldsPtr size:i32 voffset soffset offset:i32 aux:i32 \
    on=cdna2,cdna3,cdna4
ReadfirstlaneOp     readfirstlane           src -> res=:res
ReadlaneOp          readlane                src0 src1 -> res=:res
BallotOp            ballot                  pred -> res=:res
DsBpermuteOp        ds_bpermute             index src -> res=:res
DsSwizzleOp         ds_swizzle              src offset -> res=:res
DPPUpdateOp         update_dpp              old src dppCtrl:i32 rowMask:i32 bankMask:i32 boundCtrl:i1 -> res=:res
PermlaneX16Op       permlanex16             old src0 src1 src2 fi:i1 boundControl:i1 on=rdna3,rdna4,cdna5 -> res=:res
Permlane16SwapOp    permlane16_swap         old src fi:i1 boundControl:i1 on=cdna4,cdna5 -> res=:res
Permlane32SwapOp    permlane32_swap         old src fi:i1 boundControl:i1 on=cdna4 -> res=:res
MbcntLoOp           mbcnt_lo                in0 in1 -> res=:res
MbcntHiOp           mbcnt_hi                in0 in1 -> res=:res
PermOp              perm                    src0 src1 selector -> res=:res
ROCDLExp2           exp2                    arg -> res=:res
ROCDLRcp            rcp                     arg -> res=:res
ROCDLRsq            rsq                     arg -> res=:res
ROCDLLog            log                     arg -> res=:res
ROCDLSqrt           sqrt                    arg -> res=:res
FMed3Op             fmed3                   src0 src1 src2 -> res=:res
CvtPkRtz            cvt_pkrtz               srcA srcB -> res=:res
CvtPkFp8F32Op       cvt_pk_fp8_f32          srcA srcB old wordSel:i1 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
CvtPkBf8F32Op       cvt_pk_bf8_f32          srcA srcB old wordSel:i1 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
CvtPkF32Fp8Op       cvt_pk_f32_fp8          src wordSel:i1 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
CvtPkF32Bf8Op       cvt_pk_f32_bf8          src wordSel:i1 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
CvtF32Fp8Op         cvt_f32_fp8             srcA byteSel:i32 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
CvtF32Bf8Op         cvt_f32_bf8             srcA byteSel:i32 on=cdna3,cdna4,rdna4,cdna5 -> res=:res
DsReadTr4Op         ds_read_tr4_b64         ptr on=cdna4 -> res=:res
DsReadTr8Op         ds_read_tr8_b64         ptr on=cdna4 -> res=:res
DsReadTr6Op         ds_read_tr6_b96         ptr on=cdna4 -> res=:res
DsReadTr16Op        ds_read_tr16_b64        ptr on=cdna4 -> res=:res
WaveBarrierOp       wave_barrier
SWaitLoadcntOp      s_wait_loadcnt          count:i16 on=rdna4,cdna5
SWaitStorecntOp     s_wait_storecnt         count:i16 on=rdna4,cdna5
SWaitDscntOp        s_wait_dscnt            count:i16 on=rdna4,cdna5
SWaitExpcntOp       s_wait_expcnt           count:i16 on=rdna4,cdna5
BarrierSignalOp     s_barrier_signal        id:i32 on=rdna4,cdna5
BarrierWaitOp       s_barrier_wait          id:i16 on=rdna4,cdna5
GlobalLoadLDSOp     global_load_lds         globalPtr ldsPtr size:i32 offset:i32 aux:i32 on=cdna2,cdna3,cdna4
"""
"""Operations of the rocdl dialect, which are one intrinsic each: ``llvm.amdgcn.`` and the function's name with dots.
What is not here and `fx.rocdl` has comes from there: matrix instructions, scaled conversions, waits."""


TABLES = {"arith": ARITH, "math": MATH, "vector": VECTOR, "llvm": LLVM, "gpu": GPU, "rocdl": ROCDL}
"""Dialect to its rows."""
