"""Dynamic parameter identification of robots."""

from pkgutil import extend_path

# The modules msg and srv are generated.  Where this folder is used from a
# checkout they lie elsewhere on the path, in a folder of the same name.
__path__ = extend_path(__path__, __name__)

__version__ = "0.1.0"
