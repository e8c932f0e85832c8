"""The ROS 2 nodes: thin, no linear algebra."""
