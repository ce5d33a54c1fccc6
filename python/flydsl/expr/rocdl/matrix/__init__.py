"""AMD's matrix instructions and scaled conversions."""
