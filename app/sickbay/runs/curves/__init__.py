"""Curves: points as they came, packed columns, and summaries that keep every extreme.

A batch's points lie beside its idempotency keys until enough have gathered (``journal``); then
they are folded into chunks of sorted points and into buckets at several widths (``fold``). A
chart reads buckets where they are fine enough and points where they are not, and adds what is
not folded yet: what it shows depends on the points alone, never on how they arrived.
"""
