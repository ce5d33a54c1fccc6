"""Where operations go: contexts and locations, which are accepted, insertion points, and modules built by hand.

Inside a kernel there is one place already, and an insertion point moves it into a block of a hand-built `scf`
operation. Outside of one, an insertion point in a block of a hand-built function is a trace of its own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, ClassVar

from xdsl.context import Context as IrContext
from xdsl.dialects import builtin, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ConditionOp, YieldOp
from xdsl.ir import Block as IrBlock
from xdsl.ir import Operation, Region
from xdsl.parser import Parser

from flydsl._mlir.attributes import Attribute
from flydsl._mlir.op_view import OpView
from flydsl._mlir.values import show, ssa_of
from flydsl.base.errors import DslRuntimeError, DslTypeError
from flydsl.compiler.backends.base import chosen_target
from flydsl.compiler.tracing.emitter import TraceEmitter
from flydsl.dialects.parts import ir_type
from flydsl.dialects.registry import load_all
from flydsl.expr.trace.context import current, is_tracing, tracing


class _Scope:
    """A context manager that only says, while it is open, that it is."""

    _open: ClassVar[list[Any]]

    def __init_subclass__(cls) -> None:
        cls._open = []

    def __enter__(self) -> Any:
        self._open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self in self._open:
            self._open.remove(self)


class _ScopeMeta(type):
    @property
    def current(cls) -> Any:
        """The innermost one that is open; None if none is."""
        return cls._open[-1] if cls._open else None  # type: ignore[attr-defined]


class Context(_Scope, metaclass=_ScopeMeta):
    """Accepted: dialects are known everywhere here, and nothing is kept per context."""

    allow_unregistered_dialects = False

    def load_all_available_dialects(self) -> None:
        """Nothing to do: they are."""


class Location(_Scope, metaclass=_ScopeMeta):
    """Accepted: every operation has the line of the call that built it."""

    def __init__(self, name: str = "unknown", line: int = 0, column: int = 0) -> None:
        self.filename, self.line, self.column = name, line, column

    @staticmethod
    def unknown(context: Any = None) -> Location:
        """Return no place in particular."""
        return Location()

    @staticmethod
    def file(name: str, line: int, col: int, context: Any = None) -> Location:
        """Return a place in a file."""
        return Location(name, line, col)

    @staticmethod
    def name(name: str, child: Any = None, context: Any = None) -> Location:
        """Return a place by name."""
        return Location(name)

    def __str__(self) -> str:
        return f'loc("{self.filename}":{self.line}:{self.column})' if self.line else "loc(unknown)"


class InsertionPoint:
    """``with InsertionPoint(block):`` builds into a block.

    The body of the gpu module is accepted too and changes nothing: kernels and shared memory find their own place.
    """

    def __init__(self, place: Any) -> None:
        block = getattr(place, "block", place)
        if not isinstance(block, IrBlock):
            raise DslTypeError(f"an insertion point is in a block, got {place!r}", hint="if_op.then_block, entry, ...")
        self.block: IrBlock = block
        self._outer: IrBlock | None = None
        self._trace: AbstractContextManager[Any] | None = None

    @staticmethod
    def at_block_terminator(block: Any) -> InsertionPoint:
        """In front of the block's terminator, which is where building begins anyway."""
        return InsertionPoint(block)

    def __enter__(self) -> InsertionPoint:
        if not is_tracing() or isinstance(self.block.parent_op(), func.FuncOp):
            self._trace = tracing(TraceEmitter(self.block, chosen_target()))
            self._trace.__enter__()
            return self
        emitter: Any = current()
        if emitter.builder is not None and self.block is emitter.builder.gpu_module_body:
            return self
        last = self.block.last_op
        if isinstance(last, YieldOp) and not last.operands:
            last.detach()  # the terminator follows what is about to be built
            last.erase()
        self._outer = emitter.block
        emitter.enter_block(self.block)
        return self

    def __exit__(self, *error: Any) -> None:
        if self._trace is not None:
            self._trace.__exit__(*error)
        elif self._outer is not None:
            emitter: Any = current()
            parent = self.block.parent_op()
            ended = isinstance(self.block.last_op, (YieldOp, ConditionOp))
            if parent is not None and parent.name.startswith("scf.") and not ended:
                emitter.add(YieldOp.create())
            emitter.leave_block(self._outer)


class BlockView:
    """A block: its arguments and operations."""

    def __init__(self, block: IrBlock) -> None:
        self.block = block

    @property
    def arguments(self) -> list[Any]:
        """The block's arguments as raw values."""
        return [show(argument) for argument in self.block.args]

    @property
    def operations(self) -> list[OpView]:
        """The operations, in order."""
        return [OpView(op) for op in self.block.ops]

    def __iter__(self) -> Any:
        return iter(self.operations)


class Module:
    """A module of one's own, to build functions into."""

    def __init__(self, op: ModuleOp) -> None:
        self._op = op

    @staticmethod
    def create(loc: Any = None) -> Module:
        """Return an empty module."""
        return Module(ModuleOp([]))

    @staticmethod
    def parse(text: str, context: Any = None) -> Module:
        """Return the module that MLIR text spells."""
        reader = IrContext(allow_unregistered=True)
        load_all(reader)
        return Module(Parser(reader, text).parse_module())

    @property
    def body(self) -> BlockView:
        """The block of the module."""
        return BlockView(self._op.body.block)

    @property
    def operation(self) -> OpView:
        """The module as an operation."""
        return OpView(self._op)

    def __str__(self) -> str:
        return str(self._op)


class FuncOp(OpView):
    """A function built by hand: ``FuncOp("f", FunctionType.get([T.i32], []))``, then ``add_entry_block()``."""

    def __init__(self, name: str, type: Any, *, visibility: str | None = None, loc: Any = None, ip: Any = None) -> None:
        signature = type.value if isinstance(type, Attribute) else type
        ins, outs = ([ir_type(text) for text in part] for part in (signature.inputs, signature.results))
        made = func.FuncOp(name, builtin.FunctionType.from_lists(ins, outs), Region(), visibility)
        super().__init__(made)
        self.arguments_types = ins
        _place(made)

    def add_entry_block(self) -> BlockView:
        """Return the function's first block, with its arguments."""
        if self._op.regions[0].blocks:
            raise DslRuntimeError("the function has an entry block already")
        block = IrBlock(arg_types=self.arguments_types)
        self._op.regions[0].add_block(block)
        return BlockView(block)

    @property
    def arguments(self) -> list[Any]:
        """The function's arguments."""
        return BlockView(self._op.regions[0].blocks[0]).arguments


class ReturnOp(OpView):
    """The end of a function built by hand, with what it returns."""

    def __init__(self, operands: Any = (), *, loc: Any = None, ip: Any = None) -> None:
        made = func.ReturnOp.create(operands=[ssa_of(value) for value in operands])
        super().__init__(made)
        _place(made)


def _place(op: Operation) -> None:
    if not is_tracing():
        raise DslRuntimeError(
            f"{op.name} is built into no block", hint="write `with ir.InsertionPoint(module.body):` around it"
        )
    emitter: Any = current()
    emitter.add(op)
