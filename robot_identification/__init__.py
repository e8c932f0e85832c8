"""Dynamic parameter identification of robots.

The public names are those of :mod:`.api.public`.  They are loaded when the first is used, so that
the import costs next to nothing, and need no ROS.
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# The modules msg and srv are generated.  Where this folder is used from a
# checkout they lie elsewhere on the path, in a folder of the same name.
__path__ = extend_path(__path__, __name__)

__version__ = "0.1.0"

if TYPE_CHECKING:
    from robot_identification.api.public import *  # noqa: F403
else:
    _PUBLIC = "robot_identification.api.public"

    def __getattr__(name: str) -> Any:
        """Return a public name (PEP 562)."""
        # Of a module, such as msg, Python asks here before it loads it.
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
            public = import_module(_PUBLIC)
            if name in public.__all__:
                return getattr(public, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module(_PUBLIC).__all__})
