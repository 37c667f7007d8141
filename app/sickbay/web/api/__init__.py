"""Routes for programs: JSON and NDJSON, identified by token."""
