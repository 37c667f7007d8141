"""Sickbay finds the samples that would break or poison a training run.

Nothing is imported here: every decoding child pays for it at its start.
"""
