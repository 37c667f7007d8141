"""What training jobs told us: runs and their attempts, points, failures, and what is new."""
