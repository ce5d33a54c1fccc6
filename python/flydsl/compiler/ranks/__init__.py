"""Ranks as programs see them: virtual ones, processes, and GPUs of this process."""
