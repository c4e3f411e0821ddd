"""The version of the program; the build reads it here."""

VERSION = "0.1.0"
