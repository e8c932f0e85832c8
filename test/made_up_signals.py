"""Joint states that nobody measured."""

import numpy as np

from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.raw_samples import RawSamples

MILLISECOND = 1_000_000
START = 1_700_000_000_000_000_000


def raw_samples(samples=2000, joints=2, *, period_ns=MILLISECOND, noise=0.0, seed=0) -> RawSamples:
    """Return sines of 1 to 2 Hz at a constant period, with effort but without velocity."""
    rng = np.random.default_rng(seed)
    stamps = START + period_ns * np.arange(samples, dtype=np.int64)
    time = (stamps - START)[:, None] / 1e9
    frequency = np.linspace(1.0, 2.0, joints)
    position = np.sin(2 * np.pi * frequency * time) + noise * rng.standard_normal((samples, joints))
    effort = 10.0 * np.cos(2 * np.pi * frequency * time)
    return RawSamples(stamps, position, None, effort)


def chosen(raw: RawSamples, places) -> RawSamples:
    """Return some of the samples, in the order of ``places``."""
    return RawSamples(
        *(
            None if values is None else values[places]
            for values in (raw.stamps, raw.position, raw.velocity, raw.effort, raw.reference)
        )
    )


def processing(**changes) -> Processing:
    """Return settings for two joints, some of them changed."""
    settings = {
        "cutoff_hz": 50.0,
        "filter_order": 4,
        "difference_order": 2,
        "rate_hz": 100.0,
        "velocity_threshold": (0.0, 0.0),
        "velocity_threshold_window": 0.0,
        "velocity_threshold_scope": "joint",
        "drop_start": 0,
        "drop_end": 0,
        "ends": "keep",
        "residual_divisor": "rows-parameters",
    }
    return Processing(**{**settings, **changes})
