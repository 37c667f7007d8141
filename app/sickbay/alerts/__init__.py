"""Alerts: what people want to hear of, and how it reaches them.

A *rule* says what to look for; a *channel* is an address; what a rule finds becomes *messages*,
at most one for each subject and window; a message goes to each channel of its rule as a
*delivery*, which is tried until it is accepted or given up. All of it is decided and stored in
one transaction before anything is sent, so that a crash loses nothing: see ``deliveries``.
"""
