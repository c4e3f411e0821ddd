"""A conversation in a terminal, in a pipe, or as JSON Lines with another program."""
