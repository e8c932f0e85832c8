"""A simulated robot that is commissioned through the services of the nodes."""
