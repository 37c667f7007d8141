"""The page of a data set's policy: what counts as wrong in it, and how bad that is."""
