"""Pieces of a kernel over tiles: pipelines of copies, schedulers of tiles, epilogues."""
