"""The demonstration: a small data set made on the spot, damaged on purpose, and the whole loop."""
