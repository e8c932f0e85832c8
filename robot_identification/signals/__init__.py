"""From recorded joint states to filtered samples on one clock."""
