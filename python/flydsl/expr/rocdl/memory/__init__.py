"""AMD's ways to memory: buffers, LDS, the tensor data mover."""
