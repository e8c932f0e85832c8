"""The command line: thin, no linear algebra."""

import os

# As for the nodes: matrices are small, and more threads than one make them slower, on a busy
# machine many times.  This must be said before NumPy is imported; what the user has said holds.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
