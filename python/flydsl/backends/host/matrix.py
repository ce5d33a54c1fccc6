"""Matrix instructions on the host: one function for any instruction that a fact table describes.

The lanes' registers are gathered into dense matrices with the instruction's own thread/value layouts,
multiplied with the accumulation order of the hardware (K by K, in the accumulator's precision), and
scattered back. Columns are written as vectors. Block-scaled and saturating forms are in `matrix_scaled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from flydsl.backends.device_code import instruction_of
from flydsl.backends.host.matrix_lanes import LoopText, Operand, describe, gather, scatter
from flydsl.backends.host.matrix_registers import block_product, lane_registers, result_registers
from flydsl.backends.host.matrix_scaled import has_wide_sums, wide_text
from flydsl.backends.host.matrix_warpgroup import multiply_warpgroups
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.module_scope import ModuleScope
from flydsl.target.dtype import is_float
from flydsl.target.mma_warpgroup import Wgmma

_ROLES = ("a", "b", "c", "scale_a", "scale_b")
PARTIAL_WAVE = """\
a matrix instruction is reached by only part of a wave
let all lanes of a wave take the same branch: decide it by the number of the wave"""
"""What is wrong, and on the second line the help."""


def multiply(wg: Workgroup, op: Operation) -> None:
    """Run the instruction for every wave that reaches it. All lanes take part, as the hardware demands."""
    facts: Any = instruction_of(op)
    if isinstance(facts, Wgmma):
        wg.require_all_active(op, PARTIAL_WAVE)
        _check_whole_waves(wg, op, facts.thr_layout().size())
        multiply_warpgroups(wg, op, facts)
        return
    body = wg.body
    registers = lane_registers(wg, op, facts.intrinsic())
    sources = [registers[role] for role in _ROLES if role in registers]
    sources.insert(3, result_registers(wg, op.results[0]))
    symbol = _function(wg.module.scope, facts, [source.bytes for source in sources])
    threads = facts.thr_layout().size()

    def one(first: str) -> None:
        places = [source.address(wg, first) for source in sources]
        body.line(f"call void {symbol}({', '.join(f'ptr {p}' for p in places)})")

    _check_whole_waves(wg, op, threads)
    wg.each_wave(lambda first: _if_all_lanes(wg, op, first, threads, one))


def _if_all_lanes(wg: Workgroup, op: Operation, first: str, threads: int, run: Callable[[str], None]) -> None:
    """Run it for the lanes from ``first`` on if all are active, skip it if none is; an error if only some are."""
    if wg.mask is None:
        run(first)
        return
    body, active = wg.body, wg.active(first, str(threads))
    others = body.assign(f"sub i64 {active}, 1")
    wg.fail_if(body.assign(f"icmp ult i64 {others}, {threads - 1}"), op, PARTIAL_WAVE)
    take, skip = body.fresh_label("take"), body.fresh_label("skip")
    body.branch_if(body.assign(f"icmp ne i64 {active}, 0"), take, skip)
    body.start_block(take)
    run(first)
    body.branch(skip)
    body.start_block(skip)


def _check_whole_waves(wg: Workgroup, op: Operation, threads: int) -> None:
    if wg.consists_of(threads):
        return
    rest = wg.body.assign(f"urem i64 {wg.threads}, {threads}")
    wg.fail_if(
        wg.body.assign(f"icmp ne i64 {rest}, 0"),
        op,
        "a matrix instruction needs whole waves, but the block ends inside one",
    )


# The function ----------------------------------------------------------------------------------


def _accumulator(elem: str) -> str:
    """Return the type sums are kept in: f16 and bf16 results are summed in f32 and rounded once."""
    if not is_float(elem):
        return "i32"
    return "double" if elem == "f64" else "float"


def _function(scope: ModuleScope, facts: Any, lane_bytes: list[int]) -> str:
    """Return the function of an instruction whose operands A, B, C, D and scales take that many bytes a lane."""
    name = f"fly.{facts}".replace("!", "").replace(" ", "") + "".join(f".{size}" for size in lane_bytes)
    if has_wide_sums(facts):
        return scope.helper(name, lambda symbol: wide_text(scope, facts, lane_bytes, symbol))
    return scope.helper(name, lambda symbol: _text(scope, facts, describe(facts, lane_bytes), symbol))


def _text(scope: ModuleScope, facts: Any, operands: list[Operand], symbol: str) -> str:
    m, n, k = facts.shape_mnk
    blocks = getattr(facts, "blocks", 1)
    acc = _accumulator(operands[2].elem)
    sizes = (m * k * blocks, k * n * blocks, m * n * blocks)
    text = LoopText()
    dense = ("%A", "%B", "%D")
    for name, size in zip(dense, sizes, strict=True):
        text.line(f"{name} = alloca [{size} x {acc}], align 64")
    for operand, place, name in zip(operands[:3], ("%a", "%b", "%c"), dense, strict=True):
        gather(scope, text, operand, place, name, acc)
    text.loop(blocks, lambda block: block_product(text, acc, (m, n, k), block))
    scatter(scope, text, operands[3], "%d", "%D", acc)
    text.line("ret void")
    return text.function(f"void {symbol}(ptr %a, ptr %b, ptr %c, ptr %d) noinline")
