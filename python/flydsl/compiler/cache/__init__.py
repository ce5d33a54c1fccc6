"""Compiled code by its key: from disk or compiled, and into the process."""
