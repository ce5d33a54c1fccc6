"""What accesses promise of their addresses: relaxed for the host, and held to where a GPU would end the kernel.

A wide access says how its address is aligned. The host reads any address, so a broken promise would go unseen; on an
NVIDIA GPU it is an error, and so it is on its virtual form. Most promises depend on the base of the array alone: the
access then only notes what was found out at the start of the kernel, which LLVM moves out of the loop over threads.
Others are arithmetic on the address, without a branch. The end of the loop looks at the outcome.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.thread_loops import Workgroup
from flydsl.backends.launcher import Site, site_of
from flydsl.base.native_names import SITE_BASE
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.dialects.upstream import integer, walked
from flydsl.passes.shared.shared_place import known_base

PROMISED = "fly.promised_alignment"
"""Attribute of an access: what the kernel says of its address, whatever the host needs."""
WIDEST_ACCESS = 16
"""Bytes of the widest access that hardware has; no other alignment can stop it."""
MISALIGNED = """\
misaligned access: the address is no multiple of {} bytes, as this copy or atomic needs
copy fewer bits at a time, or align the memory and every offset into it (assumed_align, fx.Align, padded rows)"""
_PLACES = {"llvm.load": 0, "llvm.store": 1}
_WORD = 64


def relax_alignment(module: Operation) -> None:
    """Accesses are only as aligned as their elements: a promise broken by the user must not crash the host."""
    for op in walked(module):
        if op.name in _PLACES:
            size = _element_bytes(op)
            given = op.properties.get("alignment")
            if isinstance(given, IntegerAttr):
                op.properties["alignment"] = integer(min(given.value.data, size), _WORD)
                op.attributes[PROMISED] = given


def _element_bytes(op: Operation) -> int:
    type_ = op.results[0].type if op.results else op.operands[0].type
    return getattr(type_.element_type if isinstance(type_, VectorType) else type_, "size", 8)


def hold_to_promises(wg: Workgroup) -> None:
    """Have wide accesses of a kernel checked that is about to be emitted."""
    plain = dict(wg.body.rules)

    def checked(name: str, place: int) -> Rule:
        def rule(emitter: FunctionEmitter, op: Operation) -> None:
            promised = op.attributes.get(PROMISED)
            bytes_ = min(promised.value.data, WIDEST_ACCESS) if isinstance(promised, IntegerAttr) else 0
            if bytes_ > _element_bytes(op):
                _hold(wg, op, op.operands[place], bytes_)
            plain[name](emitter, op)

        return rule

    wg.body.rules = {**plain, **{name: checked(name, place) for name, place in _PLACES.items()}}


def _hold(wg: Workgroup, op: Operation, pointer: SSAValue, alignment: int) -> None:
    found = known_base(pointer, alignment)
    if found is None or found[1]:
        wg.broken_promises.note(op, wg.body.typed(pointer), alignment)
    elif found[0] in wg.block.args:
        wg.broken_promises.note_base(op, found[0], alignment)


class BrokenPromises:
    """Which accesses of a loop over threads were misaligned, until the loop ends.

    Each access has a bit of a word, and setting it is an `or`. A maximum of numbers would do with one word for all of
    them, but LLVM 22 makes conditions of it, and its search for checksums in loops takes twice as long for each.
    """

    def __init__(self, wg: Workgroup) -> None:
        self._wg = wg
        self._noted: list[Site] = []
        """The accesses that have bits, in the order of the bits."""
        self._bases: dict[tuple[SSAValue, int], Site] = {}
        """One access for each argument, and what is promised of it."""
        self._words: dict[object, str] = {}

    def note(self, op: Operation, place: str, alignment: int) -> None:
        """Remember an access at an address that is not what it promises."""
        self.require(op, self._kept(place, alignment), MISALIGNED.format(alignment))

    def require(self, op: Operation, right: str, message: str) -> None:
        """Remember an access for which a condition does not hold, and what is wrong then."""
        number, bit = divmod(len(self._noted), _WORD)
        self._noted.append(site_of(op, message))
        body, word = self._wg.body, self._word(number)
        before = body.assign(f"load i64, ptr {word}")
        here = body.assign(f"select i1 {right}, i64 0, i64 {1 << bit}")
        body.line(f"store i64 {body.assign(f'or i64 {before}, {here}')}, ptr {word}")

    def note_base(self, op: Operation, base: SSAValue, alignment: int) -> None:
        """The same where the promise depends on an argument alone: a store that LLVM takes out of the loop."""
        self._bases.setdefault((base, alignment), site_of(op, MISALIGNED.format(alignment)))
        kept = self._kept(self._wg.body.typed(base), alignment)
        here = self._wg.body.assign(f"select i1 {kept}, i64 0, i64 1")
        self._wg.body.line(f"store i64 {here}, ptr {self._word((base, alignment))}")

    def stop(self) -> None:
        """Behind a loop over threads: leave with the line of an access that broke its promise."""
        words = range(0, len(self._noted), _WORD)
        groups = [(self._word(at // _WORD), self._noted[at : at + _WORD]) for at in words]
        groups += [(self._word(key), [site]) for key, site in self._bases.items()]
        body, sites = self._wg.body, self._wg.sites
        for word, noted in groups:
            bits = body.assign(f"load i64, ptr {word}")
            stop, on = body.fresh_label("stop"), body.fresh_label("on")
            body.branch_if(body.assign(f"icmp ne i64 {bits}, 0"), stop, on)
            body.start_block(stop)
            first = body.assign(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")
            status = body.assign(f"add i64 {first}, {SITE_BASE + len(sites)}")
            body.line(f"ret i32 {body.assign(f'trunc i64 {status} to i32')}")
            body.start_block(on)
            sites += noted
        self._noted.clear()
        self._bases.clear()

    def _kept(self, place: str, alignment: int) -> str:
        """Return whether an address is aligned."""
        body = self._wg.body
        low = body.assign(f"and i64 {body.assign(f'ptrtoint {place} to i64')}, {alignment - 1}")
        return body.assign(f"icmp eq i64 {low}, 0")

    def _word(self, key: object) -> str:
        if key not in self._words:
            self._words[key] = self._wg.body.fresh("misaligned")
            self._wg.body.entry_line(f"{self._words[key]} = alloca i64, align 8")
            self._wg.body.entry_line(f"store i64 0, ptr {self._words[key]}")
        return self._words[key]
