"""Samples in training: which a step used, which are to blame, and where each was seen."""
