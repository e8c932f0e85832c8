"""What the nodes may do under SROS 2, and what the package must never do with a file."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parents[1]
POLICY = ROOT / "config" / "security" / "policy.xml"
INTERFACES = ROOT / "docs" / "ros_interfaces.md"
PREFIX = "/robot_identification/"
OPERATOR = "operator"
CONTROLLER = "follow_joint_trajectory"
EVERY_PUBLISHED = {"/parameter_events", "/rosout"}
EVERY_SUBSCRIBED = {"/clock"}
PARAMETER_SERVICES = {
    *("~/describe_parameters", "~/get_parameter_types", "~/get_parameters"),
    *("~/list_parameters", "~/set_parameters", "~/set_parameters_atomically"),
    "~/get_type_description",
}
RULES = {
    "topics": ("topic", {"publish", "subscribe"}),
    "services": ("service", {"reply", "request"}),
    "actions": ("action", {"call", "execute"}),
}


def profiles():
    """Return what the policy allows, node -> (what, how) -> names."""
    found = {}
    for enclave in ET.parse(POLICY).getroot().iter("enclave"):
        (profile,) = enclave.iter("profile")
        rights = found.setdefault(profile.get("node"), {})
        for block in profile:
            (how,) = block.attrib
            names = rights.setdefault((block.tag, how), [])
            names += [entry.text for entry in block]
    return found


def documented():
    """Return what docs/ros_interfaces.md says of the nodes, in the form of :func:`profiles`."""
    if not INTERFACES.is_file():
        pytest.skip("the documentation is not installed with the tests")
    found = {}
    for section in re.split(r"^## ", INTERFACES.read_text(), flags=re.MULTILINE):
        if not (heading := re.match(r"Node `(\w+)`", section)):
            continue
        rights = found.setdefault(heading[1], {})
        kind = None
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("| topic |"):
                kind = "topics"
            elif line.startswith(("| service |", "| action |")):
                kind = f"{cells[0]}s"
            elif not line.startswith("|"):
                kind = None
            elif kind and (name := re.fullmatch(r"`([~/\w]+)`", cells[0])):
                served = "call" if cells[1] == "called" else "execute"
                how = {"services": "reply", "actions": served}.get(kind)
                how = how or {"in": "subscribe", "out": "publish"}[cells[1]]
                rights.setdefault((kind, how), set()).add(name[1])
    return found


def own_rights(rights):
    """Return rights without those that every node has."""
    common = {
        ("topics", "publish"): EVERY_PUBLISHED,
        ("topics", "subscribe"): EVERY_SUBSCRIBED,
        ("services", "reply"): PARAMETER_SERVICES,
    }
    own = {key: set(names) - common.get(key, set()) for key, names in rights.items()}
    return {key: names for key, names in own.items() if names}


def test_every_node_may_do_what_it_is_documented_to_do_and_nothing_else():
    allowed, wanted = profiles(), documented()
    assert len(wanted) >= 6
    assert set(allowed) == {*wanted, OPERATOR}
    for node, rights in wanted.items():
        assert own_rights(allowed[node]) == rights, node


def test_every_node_has_the_rights_that_nodes_need():
    for node, rights in profiles().items():
        assert set(rights["topics", "publish"]) >= EVERY_PUBLISHED, node
        assert set(rights["topics", "subscribe"]) >= EVERY_SUBSCRIBED, node
        assert set(rights["services", "reply"]) >= PARAMETER_SERVICES, node


def test_only_one_node_each_may_command_the_robot():
    rights = profiles()
    for topic, node in (
        ("joint_trajectory", "excitation"),
        ("feedforward_effort", "computed_torque"),
    ):
        senders = {n for n, own in rights.items() if topic in own["topics", "publish"]}
        assert senders == {node}
    callers = {n for n, own in rights.items() if CONTROLLER in own.get(("actions", "call"), ())}
    assert callers == {"excitation"}


def test_an_operator_may_ask_for_everything_and_publish_nothing():
    rights = profiles()
    own = rights.pop(OPERATOR)
    assert set(own["topics", "publish"]) == EVERY_PUBLISHED

    def of_node(node, name):
        return f"{node}{name[1:]}" if name.startswith("~") else name

    published = {of_node(n, x) for n, r in rights.items() for x in r["topics", "publish"]}
    assert set(own["topics", "subscribe"]) == published | EVERY_SUBSCRIBED
    served = {of_node(n, x) for n, r in rights.items() for x in r["services", "reply"]}
    asked = set(own["services", "request"])
    assert asked == {name for name in served if not name.endswith("/get_type_description")}
    offered = {of_node(n, x) for n, r in rights.items() for x in r.get(("actions", "execute"), ())}
    assert len(offered) >= 4
    offered.remove(CONTROLLER)  # a request to the robot, which only one node may make
    assert set(own["actions", "call"]) == offered


def test_the_policy_has_the_form_of_sros_2():
    root = ET.parse(POLICY).getroot()
    assert (root.tag, root.attrib) == ("policy", {"version": "0.2.0"})
    assert [child.tag for child in root] == ["enclaves"]
    enclaves = list(root[0])
    assert len({enclave.get("path") for enclave in enclaves}) == len(enclaves)
    for enclave in enclaves:
        assert (enclave.tag, list(enclave.attrib)) == ("enclave", ["path"])
        assert [child.tag for child in enclave] == ["profiles"]
        for profile in enclave[0]:
            assert (profile.tag, set(profile.attrib)) == ("profile", {"ns", "node"})
            assert enclave.get("path") == PREFIX + profile.get("node")
            for block in profile:
                entry, hows = RULES[block.tag]
                assert set(block.attrib) <= hows
                assert set(block.attrib.values()) == {"ALLOW"}
                assert len(block) > 0
                names = [child.text for child in block]
                assert {child.tag for child in block} == {entry}
                assert all(re.fullmatch(r"(~/|/)?\w+(/\w+)*", name) for name in names)
                assert len(set(names)) == len(names)


FORBIDDEN = {
    *(
        "pickle.load",
        "pickle.loads",
        "pickle.dump",
        "pickle.dumps",
        "marshal.load",
        "marshal.loads",
    ),
    *("shelve.open", "eval", "exec", "compile", "os.system", "os.popen", "yaml.load_all"),
    *("yaml.unsafe_load", "yaml.full_load", "yaml.unsafe_load_all", "yaml.full_load_all"),
    *("tempfile.mktemp", "joblib.load", "ET.parse", "ET.fromstring", "ElementTree.parse"),
    *("minidom.parse", "minidom.parseString", "etree.parse", "etree.fromstring"),
}
MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "lxml",
    "xml.etree",
    "xml.dom",
}
SAFE_LOADERS = {"yaml.SafeLoader", "yaml.CSafeLoader", "_LOADER"}


def sources():
    return sorted(
        path
        for folder in ("robot_identification", "launch")
        for path in (ROOT / folder).rglob("*.py")
    )


def violations(tree):
    """Yield what a module does that could run or expand what a file holds."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None)
            names += [module, *(f"{module}.{name}" for name in names)] if module else []
            yield from (name for name in names if name in MODULES)
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name in FORBIDDEN or given.get("shell", "False") != "False":
            yield ast.unparse(node)
        if given.get("allow_pickle", "False") != "False":
            yield ast.unparse(node)
        if name in ("yaml.load", "yaml.parse") and given.get("Loader") not in SAFE_LOADERS:
            yield ast.unparse(node)


def test_no_module_runs_or_expands_what_a_file_holds():
    assert len(sources()) > 200
    found = {str(p): list(violations(ast.parse(p.read_text()))) for p in sources()}
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from xml.etree import ElementTree",
        "eval(text)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "subprocess.run(line, shell=True)",
        "numpy.load(path, allow_pickle=True)",
        "os.system(line)",
    ],
)
def test_what_is_forbidden_is_found(text):
    assert list(violations(ast.parse(text)))
