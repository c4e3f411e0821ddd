"""The machine that the program runs on: its clock, its temporary files."""
