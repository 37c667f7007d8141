"""Talking to a Sickbay server with the standard library alone."""
