"""The ROS 2 nodes: thin, no linear algebra."""

import os

# Matrices here are small: more threads make their factorisation several times slower.  This must
# be said before NumPy is imported; what the user has said holds.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
