"""Arrays with a shape and no memory, for measuring what compiles and never runs."""

from __future__ import annotations


class Placeholder:
    """A row-major array that nobody reads, described as torch describes its tensors."""

    def __init__(self, dtype: str, *shape: int) -> None:
        self.dtype, self.shape = dtype, shape

    class device:
        type = "cpu"
        index = 0

    def data_ptr(self) -> int:
        return 4096

    def stride(self) -> tuple[int, ...]:
        return (self.shape[1], 1) if len(self.shape) == 2 else (1,)
