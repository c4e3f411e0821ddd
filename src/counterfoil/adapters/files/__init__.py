"""A store in ordinary directories: files that are written whole, together, or not at all."""
