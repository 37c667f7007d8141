"""The heart: samples, findings, status, decisions, and the queue of what waits for a person."""
