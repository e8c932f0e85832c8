"""A client of nodes that a test moves by hand: what they answer, and when; no ROS, no clock."""

from types import SimpleNamespace

from robot_identification.ros.clients.client import ClientTimeoutError


class Transport:
    """Answers requests after some steps; every step is told to a function."""

    def __init__(self, *answers, steps=3):
        self.answers, self.steps = list(answers), steps
        self.asked, self.there, self.now = [], True, 0.0
        self.identifier = b"first"
        self.step = lambda: None
        self.heard, self.graph = {}, []
        self.node = SimpleNamespace(
            create_subscription=lambda _kind, topic, take, _profile: self.heard.update(
                {topic: take}
            ),
            destroy_subscription=lambda _: None,
            get_namespace=lambda: "/left",
            get_node_names_and_namespaces=lambda: self.graph,
            resolve_service_name=lambda name: f"/left/{name}",
        )

    def begin(self, _kind, name, request=None, _timeout=60.0):
        self.asked.append((name, request))
        answer = self.answers.pop(0)
        due = self.now + self.steps
        return SimpleNamespace(done=lambda: self.now >= due, result=lambda: answer)

    def is_there(self, _kind, _name):
        return self.there

    def servers(self, _name):
        return frozenset([self.identifier])

    def wait_for_service(self, _kind, _name, _timeout):
        pass

    def wait_for(self, condition, timeout, what):
        begin = self.now
        while not (value := condition()):
            if self.now - begin > timeout:
                raise ClientTimeoutError(f"no {what} within {timeout:g} s")
            self.now += 1.0
            self.step()
        return value

    def wait_for_server(self, is_ready, _new, timeout, what):
        self.wait_for(is_ready, timeout, what)

    @property
    def names(self):
        return [name for name, _ in self.asked]
