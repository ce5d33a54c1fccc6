"""Write the tables of docs/performance.md from what the benchmarks measured.

After the benchmarks: python benchmarks/page.py [--results FOLDER] [--page FILE]

Every benchmark on a GPU leaves its numbers as JSON in `benchmarks/results`. A table of the page stands between two
comments, `<!-- figures: NAME -->` and `<!-- end of figures -->`, and is made from those files here: nobody types a
number. A table whose file is not in the folder stays as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import timing

Row = dict[str, Any]
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BLOCK = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown: the first column to the left, the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def taken(data: Row) -> str:
    """When and where numbers were taken, as a line above their table."""
    at = data["taken"]
    seed = f", seed {data['seed']}" if "seed" in data else ""
    return f"{at['gpu']}, torch {at['torch']}, {at['date']}{seed}.\n\n"


def mean_and_least(ratios: Sequence[float]) -> str:
    ahead = sum(ratio >= 1 for ratio in ratios)
    mean = statistics.geometric_mean(ratios)
    return f"geometric mean {mean:.3f}, least {min(ratios):.3f}, {ahead} of {len(ratios)} at 1 or above"


# Rows ----------------------------------------------------------------------------------------------------------------


PEERS = {"the copy": "copy", "torch.compile": "compile", "Triton": "triton"}


def rows_groups(data: Row) -> str:
    """The least and the median of what the goals are about, and the least of each as cells by name."""
    cells = data["rows"]
    groups = {
        "many rows, 128 to 12,000 long": [c for c in cells if not c["few"] and 128 <= c["n"] < 12_000],
        "many rows, 12,000 to 262,144 long": [c for c in cells if not c["few"] and c["n"] >= 12_000],
        "many rows, all from 128": [c for c in cells if not c["few"] and c["n"] >= 128],
        "many rows, shorter": [c for c in cells if not c["few"] and c["n"] < 128],
        "few rows": [c for c in cells if c["few"]],
    }
    head = [
        "cells",
        "",
        "of the copy: least",
        "median",
        "of torch.compile: least",
        "median",
        "of Triton: least",
        "median",
    ]
    lines = []
    for name, group in groups.items():
        found = [[c[peer] / c["ours"] for c in group if peer in c] for peer in PEERS.values()]
        spans = [f"{of(ratios):.2f}" if ratios else "-" for ratios in found for of in (min, statistics.median)]
        lines.append([name, str(len(group)), *spans])
    return taken(data) + table(head, lines) + "\n" + rows_behind(cells)


def rows_behind(cells: Sequence[Row]) -> str:
    """The cells that are below the goals."""
    slow = [(c["copy"] / c["ours"], "copy", c) for c in cells if not c["few"] and c["n"] >= 128]
    slow = [found for found in slow if found[0] < 0.88]
    slow += [(c["compile"] / c["ours"], "torch.compile", c) for c in cells if c.get("compile", 9e9) < c["ours"]]
    named = [f"{c['kernel']} {c['m']}x{c['n']} {c['dtype']} {ratio:.2f} of {peer}" for ratio, peer, c in slow]
    return "Below 0.88 of the copy or behind torch.compile: " + (", ".join(named) or "none") + ".\n"


def backward(data: Row) -> str:
    head = ["", "shape", "ours", "torch", "of the copy", "of a read"]
    return taken(data) + table(head, [
        [r["name"], f"{r['m']}x{r['n']}", f"{r['ours']:.2f}", f"{r['torch']:.2f}" if "torch" in r else "",
         f"{r['ours'] / r['copy']:.2f}", f"{r['ours'] / r['read']:.2f}" if "read" in r else ""]
        for r in data["rows"]])  # fmt: skip


def row_ops(data: Row) -> str:
    head = ["", "shape", "", "ours", "torch.compile", "of the copy"]
    return taken(data) + table(head, [
        [r["name"], f"{r['m']}x{r['n']}", r["dtype"], f"{r['ours']:.2f}",
         f"{r['compile']:.2f}" if "compile" in r else "", f"{r['ours'] / r['copy']:.2f}"]
        for r in data["rows"]])  # fmt: skip


def ops(data: Row) -> str:
    head = ["", "ours", "torch", "operator", "ours, grad", "torch, grad", "operator, grad"]
    parts = ", ".join(f"{name} {us}" for name, us in data["parts"])
    return taken(data) + table(head, [row[:7] for row in data["rows"]]) + f"\nParts of a call: {parts}.\n"


# Products ------------------------------------------------------------------------------------------------------------


def shape_of(row: Row) -> str:
    return f"{row['m']}×{row['n']}×{row['k']}"


def against(row: Row, peer: str = "cublas") -> str:
    return f"{row[peer] / row['ours']:.3f}" if peer in row else "-"


def us(row: Row, side: str) -> str:
    return f"{row[side]:.1f}" if side in row else "-"


def gemm_bf16(data: Row) -> str:
    head = ["product", "M×N×K", "ours, µs", "cuBLAS", "cuBLAS/ours", "floor/ours", "mJ, ours", "cuBLAS", "tile"]
    lines = [
        [r["name"], shape_of(r), us(r, "ours"), us(r, "cublas"), against(r), f"{r['floor'] / r['ours']:.2f}",
         *(f"{1e3 * r['joules'][side]:.2f}" if side in r.get("joules", ()) else "-" for side in ("ours", "cublas")),
         r["tile"]]
        for r in data["shapes"]]  # fmt: skip
    ratios = [r["cublas"] / r["ours"] for r in data["shapes"] if "cublas" in r]
    return taken(data) + table(head, lines) + f"\ncuBLAS/ours: {mean_and_least(ratios)}.\n"


def gemm_few(data: Row) -> str:
    head = ["M×N×K", "ours, µs", "cuBLAS", "floor", "cuBLAS/ours"]
    lines = [[shape_of(r), us(r, "ours"), us(r, "cublas"), us(r, "floor"), against(r)] for r in data["shapes"]]
    most = max(r["ours"] / max(r["floor"], r["cublas"]) for r in data["shapes"] if "cublas" in r)
    return taken(data) + table(head, lines) + f"\nOurs takes {most:.3f} of the longer of floor and cuBLAS at most.\n"


def gemm_peer(peer: str) -> Callable[[Row], str]:
    def one(data: Row) -> str:
        head = ["product", "M×N×K", "ours, µs", peer, f"{peer}/ours"]
        lines = [[r["name"], shape_of(r), us(r, "ours"), us(r, "cublas"), against(r)] for r in data["shapes"]]
        ratios = [r["cublas"] / r["ours"] for r in data["shapes"] if "cublas" in r]
        return taken(data) + table(head, lines) + f"\n{peer}/ours: {mean_and_least(ratios)}.\n"

    return one


def gemm_kind(*sides: str) -> Callable[[Row], str]:
    def one(data: Row) -> str:
        head = ["product", "ours, µs", *(f"{side}, µs" for side in sides), f"{sides[0]}/ours"]
        lines = [
            [r["title"], us(r, "ours"), *(us(r, side) for side in sides), against(r, sides[0])] for r in data["rows"]
        ]
        return taken(data) + table(head, lines)

    return one


# Attention and experts -----------------------------------------------------------------------------------------------


def attention(part: str, *peers: str) -> Callable[[Row], str]:
    """TFLOP/s of one part, and how many times a peer's ours are."""

    def one(data: Row) -> str:
        head = [part, "ours", *peers, *(f"ours/{peer}" for peer in peers), "error"]
        lines = []
        for r in data[part]:
            speeds = [f"{r[side]:.0f}" if side in r else "-" for side in ("ours", *peers)]
            ratios = [f"{r['ours'] / r[peer]:.3f}" if peer in r else "-" for peer in peers]
            lines.append([r["shape"], *speeds, *ratios, f"{r['error']:.1e}"])
        return taken(data) + table(head, lines)

    return one


def decode(data: Row) -> str:
    pages = ("pages of 16", "pages of 64")
    head = ["sequences x keys", *pages, "8 bits", "cuDNN", *(f"{page}/cuDNN" for page in pages), "8 bits/16 bits"]
    return taken(data) + table(head, [
        [r["shape"], *(us(r, side) for side in (*pages, "8 bits", "cuDNN")),
         *(f"{r[page] / r['cuDNN']:.2f}" if "cuDNN" in r else "-" for page in pages),
         f"{r['8 bits'] / r['pages of 64']:.2f}"]
        for r in data["decode"]])  # fmt: skip


def latent(data: Row) -> str:
    head = ["sequences x keys, heads", "µs", "TFLOP/s", "GB/s"]
    lines = [[r["shape"], us(r, "us"), f"{r['TFLOP/s']:.0f}", f"{r['GB/s']:.0f}"] for r in data["latent"]]
    return taken(data) + table(head, lines)


def moe(data: Row) -> str:
    head = [
        "layer, tokens",
        "torch, µs",
        "bf16",
        "fp8 blocks",
        "torch/bf16",
        "torch/fp8",
        "of a long copy",
        "of a copy",
    ]
    return taken(data) + table(head, [row[:8] for row in data["rows"]])


TABLES: dict[str, tuple[str, Callable[[Row], str]]] = {
    "rows": ("rows", rows_groups), "backward": ("backward", backward), "row_ops": ("row_ops", row_ops),
    "ops": ("ops", ops),
    "gemm_bf16": ("gemm_bf16", gemm_bf16), "gemm_few": ("gemm_few", gemm_few),
    "gemm_fp8": ("gemm_fp8", gemm_peer("cuBLAS")), "gemm_fp8_accurate": ("gemm_fp8_accurate", gemm_peer("cuBLAS")),
    "gemm_rows": ("gemm_rows", gemm_peer("torch")),
    "gemm_groups": ("gemm_groups", gemm_kind("torch", "gathered")), "gemm_blocks": ("gemm_blocks", gemm_kind("torch")),
    "gemm_scaled_groups": ("gemm_scaled_groups", gemm_kind("dense", "torch, rows")),
    "gemm_int4": ("gemm_int4", gemm_kind("torch, bf16 weights")),
    "forward": ("attention", attention("forward", "cuDNN", "flash")),
    "gradients": ("attention", attention("gradients", "cuDNN", "flash")),
    "fp8_attention": ("attention", attention("fp8", "fast", "blocks", "bf16")),
    "decode": ("attention", decode), "latent": ("attention", latent), "moe": ("moe", moe),
}  # fmt: skip
"""Name of a table on the page -> the file of results that it is made from, and how."""


def written(page: str, results: Path) -> tuple[str, list[str]]:
    """The page with the tables that there are results for, and the names of those."""
    names: list[str] = []

    def block(found: re.Match[str]) -> str:
        source, make = TABLES[found[1]]
        file = results / f"{source}.json"
        data = json.loads(file.read_text()) if file.exists() else None
        if data is None or (source == "attention" and found[1].removesuffix("_attention") not in data):
            return found[0]  # a run of attention may have had some parts only
        names.append(found[1])
        return f"{found[1]}{found[2]}\n{make(data)}\n"

    return BLOCK.sub(block, page), names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path(timing.RESULTS), help="where the JSON files lie")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    page, names = written(given.page.read_text(), given.results)
    given.page.write_text(page)
    print(f"{len(names)} of {len(TABLES)} tables: {', '.join(names) or 'none'}")


if __name__ == "__main__":
    main()
