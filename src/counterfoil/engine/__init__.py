"""Use cases, in values: no written form, no technology."""
