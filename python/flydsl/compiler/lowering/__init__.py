"""From a traced module to an artifact, and what can be seen on the way."""
