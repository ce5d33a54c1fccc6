"""Control flow with a meeting inside, taken out of the thread loops.

Where all threads agree (the condition or the bounds are uniform) it is a plain branch or loop around
thread loops. Where they may not, an array of masks says who takes part, and a loop goes on as long as
anyone does.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, Region, SSAValue

from flydsl.backends.host.thread_loops import Copy, Workgroup
from flydsl.codegen.llvm_types import type_text


def emit(wg: Workgroup, op: Operation) -> None:
    """Write lifted control flow."""
    if op.name == "scf.if":
        if wg.plan.is_uniform(op.operands[0]):
            _uniform_if(wg, op)
        else:
            _masked_if(wg, op)
    elif op.name == "scf.for":
        if wg.plan.uniform_bounds(op):
            _uniform_for(wg, op)
        else:
            _masked_for(wg, op)
    else:
        _masked_while(wg, op)


def _reserve(wg: Workgroup, values: object) -> None:
    for value in values:  # type: ignore[attr-defined]
        wg.slots.reserve(value, type_text(value.type))


def _yields(region: Region, targets: object) -> list[Copy]:
    last = region.block.last_op
    assert last is not None
    return list(zip(last.operands, targets, strict=True))  # type: ignore[call-overload]


# Branches --------------------------------------------------------------------------------------


def _arms(op: Operation) -> list[Region]:
    return [region for region in op.regions if region.blocks]


def _uniform_if(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    _reserve(wg, op.results)
    then, orelse, done = (body.fresh_label(part) for part in ("then", "else", "fi"))
    has_else = len(_arms(op)) == 2
    body.branch_if(body.operand(op.operands[0]), then, orelse if has_else else done)
    for region, label in zip(_arms(op), (then, orelse), strict=False):
        body.start_block(label)
        wg.emit_ops(region.block, _yields(region, op.results))
        body.branch(done)
    body.start_block(done)


def _masked_if(wg: Workgroup, op: Operation) -> None:
    _reserve(wg, op.results)
    condition = op.operands[0]
    arms = _arms(op)
    masks = [wg.new_mask() for _ in arms]

    def choose() -> list[str]:
        flag = wg.value(condition)
        return [flag, wg.body.assign(f"xor i1 {flag}, true")][: len(arms)]

    taken = _set_masks(wg, masks, choose)
    for region, mask, anyone in zip(arms, masks, taken, strict=True):
        _under(wg, mask, anyone, lambda r=region: wg.emit_ops(r.block, _yields(r, op.results)))


def _set_masks(wg: Workgroup, masks: list[str], choose: Callable[[], list[str]]) -> list[str]:
    """Store new masks for the active threads (inactive ones get none); whether anyone is in each."""
    body, outer = wg.body, wg.mask
    anyone = [body.fresh("any") for _ in masks]
    for flag in anyone:
        body.entry_line(f"{flag} = alloca i8, align 1")
        body.line(f"store i8 0, ptr {flag}")
    for mask in masks if outer is not None else ():
        place, count = wg.slots.address(mask, "i1", wg.first), wg.present()
        body.line(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {count}, i1 false)")

    def inside() -> None:
        for mask, flag, bit in zip(masks, anyone, choose(), strict=True):
            wg.slots.store_key(mask, "i1", bit, wg.thread_number)
            wide = body.assign(f"zext i1 {bit} to i8")
            joined = body.assign(f"or i8 {body.assign(f'load i8, ptr {flag}')}, {wide}")
            body.line(f"store i8 {joined}, ptr {flag}")

    wg.over_threads(inside)
    return anyone


def _under(wg: Workgroup, mask: str, anyone: str, inside: Callable[[], None]) -> None:
    """Run code under a mask, if anyone is in it."""
    body, outer = wg.body, wg.mask
    some, done = body.fresh_label("some"), body.fresh_label("none")
    body.branch_if(_is_set(wg, anyone), some, done)
    body.start_block(some)
    wg.mask = mask
    inside()
    wg.mask = outer
    body.branch(done)
    body.start_block(done)


def _is_set(wg: Workgroup, flag: str) -> str:
    return wg.body.assign(f"icmp ne i8 {wg.body.assign(f'load i8, ptr {flag}')}, 0")


# Loops -----------------------------------------------------------------------------------------


def _uniform_for(wg: Workgroup, op: Operation) -> None:
    """A plain loop; carried values live in the arrays of the body's arguments."""
    body, region = wg.body, op.regions[0]
    counter, carried = region.block.args[0], region.block.args[1:]
    _reserve(wg, carried)
    for result, argument in zip(op.results, carried, strict=True):
        wg.slots.alias(result, argument)
    wg.flush([], list(zip(op.operands[3:], carried, strict=True)))
    lower, upper, step = (body.operand(o) for o in op.operands[:3])
    type_ = type_text(counter.type)
    head, inside, done = (body.fresh_label(part) for part in ("loop", "iteration", "pool"))
    before = body.current_label
    body.branch(head)
    body.start_block(head)
    slot, name = body.reserve_line(), body.fresh("iv")
    body.bind(counter, name)
    body.branch_if(body.assign(f"icmp slt {type_} {name}, {upper}"), inside, done)
    body.start_block(inside)
    wg.stopping.look(op)
    wg.emit_ops(region.block, _yields(region, carried))
    following = body.assign(f"add nsw {type_} {name}, {step}")
    body.fill_phi(slot, name, type_, [(lower, before), (following, body.current_label)])
    body.branch(head)
    body.start_block(done)


def _while_anyone(wg: Workgroup, op: Operation, test: Callable[[], str], inside: Callable[[], None]) -> None:
    """Iterate while ``test`` holds for some active thread; only those take part in the iteration."""
    body, outer, mask = wg.body, wg.mask, wg.new_mask()
    head, done = body.fresh_label("loop"), body.fresh_label("pool")
    body.branch(head)
    body.start_block(head)
    anyone = _set_masks(wg, [mask], lambda: [test()])[0]
    iteration = body.fresh_label("iteration")
    body.branch_if(_is_set(wg, anyone), iteration, done)
    body.start_block(iteration)
    wg.stopping.look(op)
    wg.mask = mask
    inside()
    wg.mask = outer
    body.branch(head)
    body.start_block(done)


def _masked_for(wg: Workgroup, op: Operation) -> None:
    region = op.regions[0]
    counter, carried = region.block.args[0], region.block.args[1:]
    _reserve(wg, [counter, *carried])
    for result, argument in zip(op.results, carried, strict=True):
        wg.slots.alias(result, argument)
    copies: list[Copy] = [(op.operands[0], counter), *zip(op.operands[3:], carried, strict=True)]
    wg.flush([], copies)
    type_ = type_text(counter.type)

    def test() -> str:
        index = wg.slots.load(counter, wg.thread_number)
        return wg.body.assign(f"icmp slt {type_} {index}, {wg.value(op.operands[1])}")

    def iteration() -> None:
        wg.emit_ops(region.block, _yields(region, carried))
        wg.over_threads(lambda: _advance(wg, counter, op.operands[2], type_))

    _while_anyone(wg, op, test, iteration)


def _advance(wg: Workgroup, counter: SSAValue, step: SSAValue, type_: str) -> None:
    index = wg.slots.load(counter, wg.thread_number)
    following = wg.body.assign(f"add nsw {type_} {index}, {wg.value(step)}")
    wg.slots.store(counter, following, wg.thread_number)


def _masked_while(wg: Workgroup, op: Operation) -> None:
    """The condition region runs for everyone still in; those it lets through go on to the body."""
    before, after = op.regions
    _reserve(wg, before.block.args)
    _reserve(wg, after.block.args)
    for result, argument in zip(op.results, after.block.args, strict=True):
        wg.slots.alias(result, argument)
    wg.flush([], list(zip(op.operands, before.block.args, strict=True)))
    body, outer = wg.body, wg.mask
    entering, passing = wg.new_mask(), wg.new_mask()
    _set_masks(wg, [entering], lambda: ["true"])
    head, iteration, done = (body.fresh_label(part) for part in ("while", "iteration", "elihw"))
    body.branch(head)
    body.start_block(head)
    condition = before.block.last_op
    assert condition is not None
    wg.mask = entering
    flag_key = ("condition", op)
    wg.slots.reserve(flag_key, "i1")
    wg.emit_ops(before.block, [*zip(condition.operands[1:], after.block.args, strict=True)])
    wg.over_threads(lambda: wg.slots.store_key(flag_key, "i1", wg.value(condition.operands[0]), wg.thread_number))
    anyone = _set_masks(wg, [passing], lambda: [wg.slots.load_key(flag_key, "i1", wg.thread_number)])[0]
    body.branch_if(_is_set(wg, anyone), iteration, done)
    body.start_block(iteration)
    wg.stopping.iteration(op)
    wg.mask = passing
    wg.emit_ops(after.block, _yields(after, before.block.args))
    wg.mask = outer
    to, of = (wg.slots.address(mask, "i1", wg.first) for mask in (entering, passing))
    body.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {wg.present()}, i1 false)")
    body.branch(head)
    body.start_block(done)
    wg.stopping.left(op)
    wg.mask = outer
