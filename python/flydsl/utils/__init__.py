"""Import paths of the original: shared memory, settings, files and logging of kernels written for it."""

from flydsl.utils.logger import log

__all__ = ["log"]
