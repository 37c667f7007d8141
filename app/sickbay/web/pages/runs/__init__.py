"""Pages of runs: the list, one run with its chart, one failure group, and what is new in them."""
