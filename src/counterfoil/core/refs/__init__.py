"""References in text: grammars with spans, resolution, and the one line under a reply."""
