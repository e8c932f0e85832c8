"""Files damaged at random: bytes, YAML trees, XML trees and serialised messages.

A mutation of a tree stays valid YAML or XML, so that it reaches what lies behind the syntax.
"""

import copy
import json
import marshal
import re
import struct
from xml.etree import ElementTree as ET

import numpy as np
import yaml

TOKENS = (
    *(b"", b"\n", b": ", b"- ", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"!!python/name:os.system "),
    *(b"null", b"true", b"0", b"-1", b"1e400", b"-1e308", b"1e-320", b".nan", b".inf", b"0x10"),
    *(b"010", b"1_000", b"1:30", b"2026-11-21", b"9" * 400, b"'", b'"', b"#", b"\t", b"\x00"),
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xa8",
        b"---\n",
        b"...\n",
        b"%YAML 9.9\n",
    ),
    *(b"<", b">", b"</", b"/>", b"&lt;", b"&x;", b"<!--", b"]]>", b"<![CDATA[", b"<!DOCTYPE r>"),
    *(b"pi/0", b"-pi/2", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\x00" * 8),
)
NUMBERS = (
    0,
    -0.0,
    1,
    -1,
    2,
    3,
    1e-320,
    1e-9,
    0.5,
    1e9,
    1e154,
    1e300,
    -1e308,
    2**31,
    2**53,
    -(2**63),
)
ODD = (
    None,
    True,
    False,
    "",
    " ",
    "x",
    "1.0",
    "nan",
    "inf",
    "pi",
    "pi/2",
    "\u2028",
    [],
    {},
    [1],
    {"x": 1},
)
_WITHOUT_POINT = re.compile(r"(?<=[ \[])(-?[0-9]+)(e[+-]?[0-9]+)(?=[,}\]])")  # no number for PyYAML
SIZES = (0, 1, 2, 3, 4, 7, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damaged_bytes(rng, data, others):
    """Return bytes in which one to four places were changed.

    Args:
        rng: a ``random.Random``.
        data: what to damage.
        others: bytes from which pieces may be spliced in.
    """
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        place = rng.randrange(len(data) + 1)
        end = min(len(data), place + int(2 ** rng.uniform(0, 7)))
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[min(place, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[min(place, len(data) - 1)] = rng.randrange(256)
        elif kind == 2:
            data[place:place] = rng.choice(TOKENS)
        elif kind == 3:
            data[place:end] = rng.choice(TOKENS)
        elif kind == 4:
            data[place:place] = data[place:end] * rng.choice((1, 1, 2, 50))
        elif kind == 5:
            del data[place : rng.choice((end, end, end, len(data)))]
        else:
            other = rng.choice(others)
            first = rng.randrange(len(other) + 1)
            data[place:end] = other[first : first + end - place]
    return bytes(data)


def damaged_yaml(rng, packed):
    """Return a YAML document in which one to three nodes were changed.

    Three of four are written as JSON, which YAML contains and which is written the quicker.

    Args:
        rng: a ``random.Random``.
        packed: what ``packed_tree`` makes of the undamaged document.
    """
    tree = [marshal.loads(packed)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = _places(tree)
        owner, key = rng.choice(places)
        _change(rng, owner, key, places)
    if rng.randrange(4):
        return _WITHOUT_POINT.sub(r"\1.0\2", json.dumps(tree[0], ensure_ascii=False)).encode()
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(tree[0], Dumper=dumper, sort_keys=False, width=1000).encode()


def packed_tree(data):
    """Return plain data in a form of which copies are made quickly."""
    return marshal.dumps(data)


def _places(tree):
    """Return every container in a tree with each of its keys."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        for key in range(len(node)) if isinstance(node, list) else node:
            found.append((node, key))
            if isinstance(node[key], (list, dict)) and node[key]:
                waiting.append(node[key])
    return found


def _change(rng, owner, key, places):
    kind = rng.randrange(8)
    if kind == 0:
        owner[key] = copy.deepcopy(rng.choice(ODD))
    elif kind <= 2:
        owner[key] = _number(rng, owner[key])
    elif kind == 3 and (isinstance(owner, dict) or len(owner) > 1):
        del owner[key]
    elif kind == 4 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif kind == 5 and isinstance(owner, dict):
        owner[rng.choice(("x", "name", "0", str(key).upper(), f"{key}s"))] = owner.pop(key)
    else:
        other, place = rng.choice(places)
        if place in (other if isinstance(other, dict) else range(len(other))):
            owner[key] = copy.deepcopy(other[place])


def _number(rng, old):
    if isinstance(old, (int, float)) and rng.random() < 0.5:
        return rng.choice((-old, old * 1.5, old + 1, float(old), str(old), [old]))
    return rng.choice(NUMBERS)


def damaged_xml(rng, data):
    """Return a well-formed XML document in which one to three elements were changed."""
    root = ET.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        parents = [(parent, child) for parent in root.iter() for child in parent]
        if not parents:
            break
        parent, child = rng.choice(parents)
        kind = rng.randrange(7)
        if kind <= 2 and child.attrib:
            _change_attribute(rng, root, child)
        elif kind == 3:
            parent.remove(child)
        elif kind == 4:
            parent.append(copy.deepcopy(child))
        elif kind == 5:
            rng.choice(parents)[0].append(copy.deepcopy(child))
        else:
            child.tag = rng.choice(parents)[1].tag
    return ET.tostring(root)


def _change_attribute(rng, root, element):
    name = rng.choice(list(element.attrib))
    words = element.attrib[name].split(" ")
    values = [value for other in root.iter() for value in other.attrib.values()]
    kind = rng.randrange(4)
    if kind == 0:
        element.attrib[name] = rng.choice(values)
    elif kind == 1:
        del element.attrib[name]
    elif kind == 2:
        words[rng.randrange(len(words))] = str(_number(rng, 1.0))
        element.attrib[name] = " ".join(words)
    else:
        element.attrib[name] = rng.choice(("", " ", "nan", "1e999", "0 0 0", "1_0", "x", "\u0661"))


def damaged_message(rng, data):
    """Return a serialised message in which a length, a number or its end was changed."""
    message = bytearray(data)
    for _ in range(rng.choice((1, 1, 2))):
        place = 4 + 4 * rng.randrange(max(1, (len(message) - 4) // 4))
        kind = rng.randrange(5)
        if kind <= 1:
            message[place : place + 4] = struct.pack("<I", rng.choice(SIZES))
        elif kind == 2:
            message[place : place + 8] = struct.pack("<d", float(rng.choice(NUMBERS)))
        elif kind == 3:
            del message[place:]
        else:
            message[place:place] = bytes(4 * rng.randrange(4))
    return bytes(message)


def damaged_trajectory(rng, original):
    """Return a trajectory message in which one to three numbers, names or points were changed."""
    message = copy.deepcopy(original)
    for _ in range(rng.choice((1, 1, 2, 3))):
        points, kind = message.points, rng.randrange(7)
        name = rng.choice(("positions", "velocities", "accelerations"))
        point = rng.choice(points) if points else None
        if kind == 0:
            message.joint_names = rng.choices((*message.joint_names, "", "x"), k=rng.randrange(5))
        elif point is None or kind == 1:
            points.append(copy.deepcopy(rng.choice(original.points)))
        elif kind == 2:
            del points[rng.randrange(len(points))]
        elif kind == 3:
            point.time_from_start.sec = rng.choice((0, 1, -1, 2**31 - 1, -(2**31)))
        elif kind == 4:
            point.time_from_start.nanosec = rng.choice((0, 1, 10**9, 2**32 - 1))
        elif kind == 5 and len(getattr(point, name)):
            values = np.array(getattr(point, name))
            values[rng.randrange(len(values)) :] = rng.choice((*NUMBERS, np.nan, np.inf))
            setattr(point, name, values)
        else:
            setattr(point, name, np.zeros(rng.randrange(5)))
    return message
