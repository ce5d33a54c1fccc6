"""Import paths of the original: shared memory, settings and logging of kernels written for it."""
