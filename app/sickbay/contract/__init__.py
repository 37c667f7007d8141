"""What server, scanner and GPU box agree on; the standard library and nothing else."""
