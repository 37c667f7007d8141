"""The web: parse, call one verb, answer. The only part that knows FastAPI."""
