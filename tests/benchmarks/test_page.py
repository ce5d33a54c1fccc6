"""Tables of the performance page are made from what benchmarks left, and from nothing else."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import page

PRODUCT = {"name": "layer", "m": 16, "n": 64, "k": 128, "ours": 2.0, "cublas": 3.0, "floor": 1.0, "tile": "64x16"}
CELL = {"kernel": "softmax", "m": 9, "dtype": "f32", "ours": 10.0, "triton": 20.0}
RESULTS: dict[str, dict[str, Any]] = {
    "rows": {"rows": [
        {**CELL, "n": 700, "few": False, "copy": 8.0, "compile": 15.0},
        {**CELL, "n": 13_001, "few": False, "copy": 9.0, "compile": 12.0},
        {**CELL, "n": 64, "few": True, "copy": 9.0, "compile": 9.0}]},
    "backward": {"rows": [{"name": "softmax backward", "m": 8, "n": 9, "ours": 3.0, "copy": 4.0, "read": 2.0}]},
    "row_ops": {"rows": [{"name": "rope", "m": 8, "n": 96, "dtype": "f16", "ours": 3.0, "copy": 4.0, "compile": 2.0}]},
    "ops": {"rows": [["softmax", *"123456", "difference"]], "parts": [["a launch", "4.9"]]},
    **{f"gemm_{kind}": {"shapes": [PRODUCT]} for kind in ("bf16", "few", "fp8", "fp8_accurate", "rows")},
    **{f"gemm_{kind}": {"rows": [{"title": "sizes", "ours": 2.0, "torch": 3.0, "torch, bf16 weights": 5.0}]}
       for kind in ("groups", "blocks", "int4")},
    "gemm_scaled_groups": {"rows": [{"title": "sizes", "ours": 2.0, "dense": 1.9}]},
    "attention": {
        **{part: [{"shape": "2x8 h4", "ours": 600.0, "cuDNN": 500.0, "bf16": 400.0, "error": 2e-3}]
           for part in ("forward", "gradients", "fp8")},
        "decode": [{"shape": "1x64", "pages of 16": 10.5, "pages of 64": 10.0, "8 bits": 6.0, "cuDNN": 10.0}],
        "latent": [{"shape": "1x64 h16", "us": 5.0, "TFLOP/s": 90.0, "GB/s": 3000.0}]},
    "moe": {"rows": [["1 token", *"1234567", "error"]]},
}  # fmt: skip
TAKEN = {"seed": 7, "taken": {"gpu": "a GPU", "torch": "2.0", "date": "2026-01-02"}}
LINES = {
    "rows": "| many rows, 128 to 12,000 long | 1 | 0.80 | 0.80 | 1.50 | 1.50 | 2.00 | 2.00 |",
    "backward": "| softmax backward | 8x9 | 3.00 |  | 0.75 | 1.50 |",
    "row_ops": "| rope | 8x96 | f16 | 3.00 | 2.00 | 0.75 |",
    "ops": "| softmax | 1 | 2 | 3 | 4 | 5 | 6 |",
    "gemm_bf16": "| layer | 16×64×128 | 2.0 | 3.0 | 1.500 | 0.50 | - | - | 64x16 |",
    "gemm_few": "| 16×64×128 | 2.0 | 3.0 | 1.0 | 1.500 |",
    "gemm_fp8": "cuBLAS/ours: geometric mean 1.500, least 1.500, 1 of 1 at 1 or above.",
    "gemm_fp8_accurate": "cuBLAS/ours: geometric mean 1.500, least 1.500, 1 of 1 at 1 or above.",
    "gemm_rows": "torch/ours: geometric mean 1.500, least 1.500, 1 of 1 at 1 or above.",
    "gemm_groups": "| sizes | 2.0 | 3.0 | - | 1.500 |",
    "gemm_blocks": "| sizes | 2.0 | 3.0 | 1.500 |",
    "gemm_scaled_groups": "| sizes | 2.0 | 1.9 | - | 0.950 |",
    "gemm_int4": "| sizes | 2.0 | 5.0 | 2.500 |",
    "forward": "| 2x8 h4 | 600 | 500 | - | 1.200 | - | 2.0e-03 |",
    "gradients": "| 2x8 h4 | 600 | 500 | - | 1.200 | - | 2.0e-03 |",
    "fp8_attention": "| 2x8 h4 | 600 | - | - | 400 | - | - | 1.500 | 2.0e-03 |",
    "decode": "| 1x64 | 10.5 | 10.0 | 6.0 | 10.0 | 1.05 | 1.00 | 0.60 |",
    "latent": "| 1x64 h16 | 5.0 | 90 | 3000 |",
    "moe": "| 1 token | 1 | 2 | 3 | 4 | 5 | 6 | 7 |",
}


def block(text: str, name: str) -> str:
    found = re.search(rf"<!-- figures: {name} -->\n(.*?)<!-- end of figures -->", text, re.DOTALL)
    assert found, name
    return found[1]


def test_the_page_has_a_place_for_every_table() -> None:
    assert re.findall(r"<!-- figures: (\w+) -->", page.PAGE.read_text()) == [*page.TABLES]


@pytest.mark.parametrize("name", page.TABLES)
def test_a_table_has_what_was_measured(name: str, tmp_path: Path) -> None:
    source, _ = page.TABLES[name]
    (tmp_path / f"{source}.json").write_text(json.dumps({**TAKEN, **RESULTS[source]}))
    text, written = page.written(page.PAGE.read_text(), tmp_path)
    assert written == [other for other, (file, _) in page.TABLES.items() if file == source]
    table = block(text, name)
    assert "a GPU, torch 2.0, 2026-01-02, seed 7." in table
    assert LINES[name] in table


def test_cells_below_the_goals_are_named(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps({**TAKEN, **RESULTS["rows"]}))
    table = block(page.written(page.PAGE.read_text(), tmp_path)[0], "rows")
    assert "behind torch.compile: softmax 9x700 f32 0.80 of copy, softmax 9x64 f32 0.90 of torch.compile.\n" in table


def test_tables_without_results_stay(tmp_path: Path) -> None:
    text = page.PAGE.read_text()
    assert page.written(text, tmp_path) == (text, [])


def test_a_run_of_some_parts_leaves_the_others(tmp_path: Path) -> None:
    some = {part: RESULTS["attention"][part] for part in ("decode", "fp8")}
    (tmp_path / "attention.json").write_text(json.dumps({**TAKEN, **some}))
    before = page.PAGE.read_text()
    text, written = page.written(before, tmp_path)
    assert written == ["fp8_attention", "decode"] and block(text, "latent") == block(before, "latent")
