"""How a node starts and ends as a process: signals, errors, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node

from robot_identification.errors import InputError, ResultRefusedError

BAD_INPUT = 2
REFUSED = 3


def run(
    make: Callable[[], Node],
    arguments: Sequence[str] | None = None,
    *,
    name: str,
    finish: Callable[[Node], None] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Make a node, run it until SIGINT or SIGTERM, and return the exit code.

    By default callbacks run one after another in one thread: at sample rates that loses nothing.

    Args:
        make: makes the node; an InputError that it raises is logged and ends the process with
            exit code 2, as a refused result ends it with 3, whenever it comes.
        arguments: command line, by default that of the process.
        name: name by which errors are logged before the node exists.
        finish: called with the node before it is destroyed.
        make_executor: makes the executor.
    """
    rclpy.init(args=list(sys.argv if arguments is None else arguments))
    node: Node | None = None
    try:
        node = make()
        executor = make_executor()
        executor.add_node(node)
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.2)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except InputError as error:
        get_logger(name).fatal(str(error))
        return BAD_INPUT
    except ResultRefusedError as error:
        get_logger(name).fatal(str(error))
        return REFUSED
    finally:
        if node is not None:
            if finish is not None:
                finish(node)
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
