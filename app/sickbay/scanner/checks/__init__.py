"""Checks: one small function a defect, listed in one tuple a module."""
