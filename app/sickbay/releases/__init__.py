"""Releases: decisions become an immutable, hashed manifest."""
