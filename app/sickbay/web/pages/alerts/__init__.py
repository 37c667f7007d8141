"""Pages of alerts: rules, channels, what was sent. For admins."""
