"""Mistakes with what a kernel reads from outside."""

from __future__ import annotations

from flydsl.base.errors import DslTypeError
from tests.unit.errors.mistake import Mistake, whole_file

CAPTURES = "What a kernel captures"


def _reading(title: str, words: tuple[str, ...], table: str, read: str) -> Mistake:
    code = f"""
        table = {table}


        @flyc.kernel
        def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):  # here
            out[0] = {read}
    """
    return whole_file(CAPTURES, title, DslTypeError, TypeError, words, code)


MISTAKES: tuple[Mistake, ...] = (
    _reading(
        "a large array that can be written", ("'kernel'", "'table'", "1048576 bytes", "flags.writeable = False"),
        "np.zeros(1 << 20)", "int(table[0])",
    ),
    _reading("a long list", ("'kernel'", "'table'", "10000 items", "tuple"), "list(range(20_000))", "table[0]"),
    _reading("an iterator", ("'kernel'", "'table'", "list_iterator", "tuple"), "iter([1, 2])", "next(table)"),
)  # fmt: skip
