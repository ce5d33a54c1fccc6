"""Compiled code on disk: keys, files, and who compiles."""
