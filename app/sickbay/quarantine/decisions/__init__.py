"""What people and scans do to samples: legal moves, acts of many, undo, history."""
