"""`fx.nvvm` on a real Hopper GPU: all its PTX assembles, and its unit tests hold there as on the virtual one.

Tests that wait forever on purpose, or only look at errors, stay on the virtual GPU.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.target.copy_nvvm import L2_PRIORITIES
from flydsl.target.mma_warpgroup import SWIZZLE_MODES
from tests.unit.expr.test_launch_shared_bytes import launching
from tests.unit.nvvm import (
    every_instruction,
    running,
    test_arithmetic,
    test_l2_policy,
    test_matrix_moves,
    test_mbarriers,
    test_named_barriers_and_clusters,
    test_pipeline,
    test_tma,
    test_wgmma,
)

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    if flyc.current_device().kind != "cuda" or flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU")
    monkeypatch.setattr(running.Where, "gpu", True)


def test_everything_assembles(tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not Path(ptxas).exists():
        pytest.skip("ptxas is not installed")

    def assemble(numbered: tuple[int, tuple[str, str, str]]) -> str:
        index, (name, arch, text) = numbered
        file = tmp_path / f"{index}.ptx"
        file.write_text(text)
        command = [ptxas, f"-arch={arch}", str(file), "-o", str(tmp_path / f"{index}.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
        return f"{name} ({arch}): {done.stderr}" if done.returncode else ""

    texts = list(enumerate(every_instruction.texts()))
    with ThreadPoolExecutor(8) as pool:
        failed = [message for message in pool.map(assemble, texts) if message]
    assert not failed, "\n".join(failed)


def _every(test: Callable[..., None], *cases: tuple[Any, ...]) -> list[Any]:
    return [pytest.param(test, case, id=f"{test.__name__}-{'-'.join(map(str, case))}") for case in cases or [()]]


CASES = [
    *_every(
        test_l2_policy.test_every_copy_moves_the_same_under_any_priority, *((l2,) for l2 in (None, *L2_PRIORITIES))
    ),
    *_every(
        test_l2_policy.test_accesses_move_the_same_under_any_priority,
        *((bits, l2) for bits in (32, 64, 128) for l2 in L2_PRIORITIES),
    ),
    *_every(test_mbarriers.test_a_phase_hands_words_from_one_warp_to_another),
    *_every(test_mbarriers.test_lanes_may_wait_for_barriers_of_their_own),
    *_every(test_named_barriers_and_clusters.test_pairs_of_warps_meet_at_barriers_of_their_own),
    *_every(test_named_barriers_and_clusters.test_arriving_does_not_wait),
    *_every(
        test_named_barriers_and_clusters.test_blocks_read_and_write_each_others_shared_memory,
        *((blocks, dtype) for blocks in (2, 4, 8) for dtype in (np.float32, np.int32)),
    ),
    *_every(test_named_barriers_and_clusters.test_a_cluster_may_have_several_axes),
    *_every(
        test_named_barriers_and_clusters.test_every_type_and_vector_is_exchanged,
        *test_named_barriers_and_clusters.EXCHANGED,
    ),
    *_every(test_named_barriers_and_clusters.test_remote_arrivals_complete_a_barrier),
    *_every(test_named_barriers_and_clusters.test_one_lane_of_a_warp_is_elected),
    *_every(test_tma.test_boxes_of_every_rank_are_loaded, *((rank,) for rank in range(1, 6))),
    *_every(test_tma.test_every_type_is_loaded, (np.float16,), (ml_dtypes.bfloat16,), (np.int8,), (np.float64,)),
    *_every(test_tma.test_every_swizzle_permutes_pieces_of_rows, *test_tma.SWIZZLED_ROWS),
    *_every(test_tma.test_the_maps_swizzle_reads_a_box_in_order, *((mode,) for mode in SWIZZLE_MODES)),
    *_every(
        test_tma.test_boxes_of_every_rank_are_stored_and_what_lies_outside_is_dropped, *((r,) for r in range(1, 6))
    ),
    *_every(test_tma.test_swizzled_boxes_are_stored, ("32B",), ("64B",), ("128B",)),
    *_every(test_tma.test_boxes_are_combined_into_a_tensor, *test_tma.REDUCED),
    *_every(test_tma.test_reductions_of_every_rank, *((rank,) for rank in range(1, 6))),
    *_every(test_tma.test_multicast_reaches_the_blocks_of_its_mask, (0b1111,), (0b0101,), (0b1000,)),
    *_every(test_tma.test_contiguous_bytes_are_copied_without_a_map),
    *_every(test_matrix_moves.test_ldmatrix, *((count, turned) for count in (1, 2, 4) for turned in (False, True))),
    *_every(test_matrix_moves.test_stmatrix, *((count, turned) for count in (1, 2, 4) for turned in (False, True))),
    *_every(
        test_arithmetic.test_redux,
        *((op, dtype) for op in ("add", "min", "max", "and", "or", "xor") for dtype in (np.int32, np.uint32)),
    ),
    *_every(test_pipeline.test_threads_hand_rounds_through_the_ring, (1, 1), (3, 3)),
    *_every(test_pipeline.test_boxes_are_multicast_through_the_ring, (1,), (2,), (4,)),
    *_every(
        test_wgmma.test_every_type,
        *((elems, source) for elems in test_wgmma.ELEMS for source in ("shared", "register")),
    ),
    *_every(
        test_wgmma.test_every_swizzle_of_k_major_tiles,
        *((elems, mode) for elems in (test_wgmma.HALVES[0], test_wgmma.ELEMS[4]) for mode in SWIZZLE_MODES),
    ),
    *_every(
        test_wgmma.test_every_swizzle_of_mn_major_tiles,
        *((mode, majors) for mode in SWIZZLE_MODES for majors in (("mn", "k"), ("k", "mn"), ("mn", "mn"))),
    ),
    *_every(test_wgmma.test_mn_major_operands_of_every_type, *((elems,) for elems in test_wgmma.HALVES)),
    *_every(test_wgmma.test_every_width, (8,), (136,), (256,)),
    *_every(test_wgmma.test_scale_d_drops_what_the_accumulators_held),
]


@pytest.mark.parametrize(("test", "arguments"), CASES)
def test_as_on_the_virtual_gpu(test: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    test(*arguments)


def test_bytes_of_shared_memory_known_at_the_launch() -> None:
    """All that a block may have can be asked for, and more is refused in our words, with the numbers."""
    launch, out = launching(lambda number: number), np.zeros(4, np.int32)
    with flyc.current_device().arrays(out) as (there,):
        launch(there, 227 * 1024)
        for number in (-5, 227 * 1024 + 1, 300 * 1024):
            with pytest.raises(RuntimeError, match=f"asks for {number} bytes .* takes 0 to 232448 here"):
                launch(there, number)
    assert (out == 7).all()


@pytest.mark.parametrize("name", test_arithmetic.FUNCTIONS)
def test_fast_functions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    test_arithmetic.test_fast_functions(name, "sm_90a", monkeypatch)
