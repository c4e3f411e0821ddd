"""One technology each."""
