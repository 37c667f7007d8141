"""The rows of the catalogue of finding codes, a module for each kind of thing they are about."""
