"""A stand-in for the package diagnostic_updater, with the part of its API that is used.

Names, arguments and what they do are those of its Updater (ROS 2 Jazzy), against which the same
tests pass.
"""

from types import ModuleType

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus


class StatusWrapper(DiagnosticStatus):
    """What tasks are given to fill in; as a message of its own it cannot be sent."""


class Updater:
    """Runs tasks, and publishes what they say under the name of the node and their own."""

    def __init__(self, node, period=1.0):
        self.node, self.tasks, self.hwid = node, [], ""
        self.publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._period = node.declare_parameter("diagnostic_updater.period", period).value
        self.timer = node.create_timer(self._period, self.update)
        node.declare_parameter("diagnostic_updater.use_fqn", False)
        self.node_name = node.get_name()

    @property
    def period(self):
        return self._period

    def setHardwareID(self, hwid):  # noqa: N802
        self.hwid = hwid

    def add(self, name, fn):
        self.tasks.append((name, fn))
        self.addedTaskCallback(name)

    def removeByName(self, name):  # noqa: N802
        for i, (own, _) in enumerate(self.tasks):
            if own == name:
                del self.tasks[i]
                return True
        return False

    def addedTaskCallback(self, task):  # noqa: N802
        self.publish(DiagnosticStatus(name=task, message="Node starting up"))

    def update(self):
        statuses = []
        for name, fn in self.tasks:
            empty = StatusWrapper(
                level=DiagnosticStatus.ERROR, name=name, hardware_id=self.hwid, message="not set"
            )
            statuses.append(fn(empty))
        self.publish(statuses)

    def publish(self, statuses):
        array = DiagnosticArray()
        for one in statuses if isinstance(statuses, list) else [statuses]:
            name = f"{self.node_name}: {one.name}"
            array.status.append(DiagnosticStatus(level=one.level, name=name, message=one.message))
        self.publisher.publish(array)


def module():
    """Return what is imported as diagnostic_updater."""
    made = ModuleType("diagnostic_updater")
    made.Updater = Updater
    return made
