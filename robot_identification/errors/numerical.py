"""Errors of numerical code that samples lead to which are absurd, and yet finite.

What takes in samples for hours goes on behind them: who works on one recording, or one stream, says
why it gives that up.
"""

from __future__ import annotations

import numpy as np

NUMERICAL_ERRORS = (np.linalg.LinAlgError, ValueError, ArithmeticError)
"""A matrix is singular or not finite, or a number overflows."""
