"""The passes in the forms of the original's `fly-opt`, where the compiler has others of its own."""
