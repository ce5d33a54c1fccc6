"""The product of dense matrices, as text of a function: the one loop nest of every matrix instruction on the host."""

from __future__ import annotations

from collections.abc import Callable

from flydsl.backends.host.matrix_lanes import LoopText

Combine = Callable[[str, str, str], str]
"""From the texts of a[m, k], b[k, n] and d[m, n] to that of the new d[m, n]."""


def dense_product(
    text: LoopText, shape: tuple[int, int, int], bases: tuple[str, str, str], kinds: tuple[str, str], combine: Combine
) -> None:
    """D[m, n] = combine(A[m, k], B[k, n], D[m, n]), k outside n so that columns vectorise and sums go k by k.

    ``bases`` are where A, B and D start; ``kinds`` the types of what is multiplied and of the sums.
    """
    (m, n, k), (factor, total) = shape, kinds
    a, b, d = bases

    def row(im: str) -> None:
        a_row = text.assign(f"getelementptr {factor}, ptr {a}, i64 {text.assign(f'mul i64 {im}, {k}')}")
        d_row = text.assign(f"getelementptr {total}, ptr {d}, i64 {text.assign(f'mul i64 {im}, {n}')}")

        def step(ik: str) -> None:
            left = text.assign(f"load {factor}, ptr {text.assign(f'getelementptr {factor}, ptr {a_row}, i64 {ik}')}")
            b_row = text.assign(f"getelementptr {factor}, ptr {b}, i64 {text.assign(f'mul i64 {ik}, {n}')}")

            def column(at: str) -> None:
                right = text.assign(
                    f"load {factor}, ptr {text.assign(f'getelementptr {factor}, ptr {b_row}, i64 {at}')}"
                )
                place = text.assign(f"getelementptr {total}, ptr {d_row}, i64 {at}")
                before = text.assign(f"load {total}, ptr {place}")
                text.line(f"store {total} {combine(left, right, before)}, ptr {place}")

            text.loop(n, column)

        text.loop(k, step)

    text.loop(m, row)


def block_product(text: LoopText, acc: str, shape: tuple[int, int, int], block: str) -> None:
    """The product of one of several blocks of the matrices %A, %B and %D, in the accumulator's own precision."""
    m, n, k = shape
    a, b, d = (
        text.assign(f"getelementptr {acc}, ptr {name}, i64 {text.assign(f'mul i64 {block}, {size}')}")
        for name, size in (("%A", m * k), ("%B", k * n), ("%D", m * n))
    )

    def fused(left: str, right: str, before: str) -> str:
        if acc == "i32":
            return text.assign(f"add i32 {before}, {text.assign(f'mul i32 {left}, {right}')}")
        return text.assign(f"call {acc} @llvm.fma({acc} {left}, {acc} {right}, {acc} {before})")

    dense_product(text, shape, (a, b, d), (acc, acc), fused)
