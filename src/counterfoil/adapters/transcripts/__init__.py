"""Formats of transcripts, one module each, and what they share."""
