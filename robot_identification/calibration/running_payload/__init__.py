"""Payload of a moving robot, estimated as joint states come, with the calibrated model."""
