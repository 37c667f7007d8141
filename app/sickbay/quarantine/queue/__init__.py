"""Reading the quarantine: filters, pages of tiles, counts, one sample, the whole list."""
