"""Messages of ROS 2 in their serialised form (CDR)."""
