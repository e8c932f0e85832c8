"""What nodes say on /diagnostics, which all nodes of a ROS domain share."""

from diagnostic_msgs.msg import DiagnosticArray

from robot_identification.ros.common import qos


def values_of(status):
    """Return the values of a status by their keys, as text."""
    return {pair.key: pair.value for pair in status.values}


class Diagnostics:
    """What the nodes of one namespace say.

    Attributes:
        statuses: all that has come, oldest first.
    """

    def __init__(self, node, namespace):
        self.statuses = []
        self._begin = f"{namespace}/"
        node.create_subscription(DiagnosticArray, "/diagnostics", self._take, qos.STATUS)

    def _take(self, message):
        self.statuses += [s for s in message.status if s.name.startswith(self._begin)]

    def of(self, name, since=0):
        """Return the statuses of a name, without its namespace, such as ``excitation``."""
        return [s for s in self.statuses[since:] if s.name == self._begin + name]
