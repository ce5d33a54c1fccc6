"""Python control flow to traced control flow, at the AST level; `rewriter.rewritten` is the way in."""
