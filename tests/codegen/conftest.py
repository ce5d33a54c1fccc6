"""NumPy is the reference here, also where it overflows or meets a NaN; its warnings are no finding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def quiet_numpy() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield
