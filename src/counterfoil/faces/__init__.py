"""Ways in and out, one audience each."""
