"""What the products by WMMA share: plans for RDNA and gfx1250, tiles in LDS, and stores of the result."""
