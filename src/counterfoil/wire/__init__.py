"""Text and JSON to values and back, by version."""
