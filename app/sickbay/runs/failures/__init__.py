"""Failures of runs: stored whole, grouped by what they have in common, the root cause first."""
