"""Efforts while a single joint moves, equation by equation (Lin 1992, eq. 56-61, corrected).

Constants come as composite bodies with their varying parts; nothing of the inverse dynamic model is
used.
"""

import numpy as np


class SingleMotion:
    """One joint, at index i, moves with qd and qdd from a posture; the others hold."""

    def __init__(self, chain, constants, varying, q, i, qd, qdd):
        self.orientation, self.origin = chain.frames(q)
        self.i, self.qd, self.qdd = i, qd, qdd
        self.m = constants.m
        self.c = constants.k + varying.moment
        self.J = constants.U + varying.tensor
        self.g = [rotation.T @ chain.gravity for rotation in self.orientation]

    def axis(self, j):
        return self.orientation[j].T @ self.orientation[self.i][:, 2]

    def acceleration(self, j):
        """Return the acceleration of the origin of frame j (eq. 55)."""
        u, s = self.axis(j), self.orientation[j].T @ (self.origin[j] - self.origin[self.i])
        return np.cross(u, s) * self.qdd + np.cross(u, np.cross(u, s)) * self.qd**2

    def rotating_seen_by_rotational(self, j):
        """Return the effort of rotational joint j behind rotating joint i (eq. 56, 58)."""
        x, y, z = self.axis(j)
        a, v2, f = self.qdd, self.qd**2, self.acceleration(j) - self.g[j]
        J, c = self.J[j], self.c[j]
        coefficients = [
            -x * y * v2, z * a, (x**2 - y**2) * v2, x * a - y * z * v2, y * a + x * z * v2,
            f[1], -f[0],
        ]  # fmt: skip
        known = [J[0, 0] - J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2], c[0], c[1]]
        return np.dot(coefficients, known)

    def rotating_seen_by_translational(self, k):
        """Return the effort of translational joint k behind rotating joint i (eq. 57, 61)."""
        x, y, z = self.axis(k)
        a, v2, f = self.qdd, self.qd**2, self.acceleration(k) - self.g[k]
        coefficients = [-y * a + x * z * v2, x * a + y * z * v2, -(x**2 + y**2) * v2, f[2]]
        return np.dot(coefficients, [*self.c[k], self.m[k]])

    def translating_seen_by_rotational(self, j):
        """Return the effort of rotational joint j behind translating joint i (eq. 59)."""
        u, g = self.axis(j), self.g[j]
        coefficients = [u[1] * self.qdd - g[1], -u[0] * self.qdd + g[0]]
        return np.dot(coefficients, self.c[j][:2])

    def translating_seen_by_translational(self, k):
        """Return the effort of translational joint k, itself moving or behind (eq. 60)."""
        return self.m[k] * (self.axis(k)[2] * self.qdd - self.g[k][2])
