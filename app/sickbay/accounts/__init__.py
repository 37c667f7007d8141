"""Who may come in: people with login links and sessions, programs with tokens.

Secrets are random, 256 bits, shown once and stored as SHA-256 only: what is that random needs
no slow hash, and looking it up by its hash leaks nothing through timing.
"""
