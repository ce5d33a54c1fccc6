"""An array of which only DLPack is known."""

from __future__ import annotations

from typing import Any

import numpy as np


class OnlyDlpack:
    """Hands on the DLPack protocol of an array, which its owner may replace."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()
