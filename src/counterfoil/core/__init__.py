"""Values and pure functions: no I/O, no clock, the standard library only."""
