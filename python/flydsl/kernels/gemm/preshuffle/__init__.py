"""What a wave of the preshuffle GEMM holds: weights in registers, and blocks of rows from LDS."""
