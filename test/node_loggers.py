"""A logger as nodes have, for nodes that are made up."""

import logging


class NodeLogger(logging.LoggerAdapter):
    """Takes the keywords of rclpy's, and logs as Python does.

    Args:
        name: of the logger.

    Attributes:
        told: texts of errors and warnings, oldest first.
    """

    def __init__(self, name="node"):
        super().__init__(logging.getLogger(name), {})
        self.told = []

    def process(self, msg, kwargs):
        return msg, {}

    def log(self, level, msg, *args, **kwargs):
        if level >= logging.WARNING:
            self.told.append(msg)
        super().log(level, msg, *args, **kwargs)
