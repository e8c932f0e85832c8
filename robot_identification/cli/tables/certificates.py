"""Certificates of motions, for people."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from robot_identification.cli.tables import results as tables
from robot_identification.excitation.certification.certificate import Certificate


def print_certificate(out: Console, certificate: Certificate) -> None:
    """Print what was not checked or was assumed, then every check with the worst that it met."""
    for remark in certificate.remarks:
        out.print(remark, markup=False, soft_wrap=True)
    checks = [(check.name, "passed", check.detail) for check in certificate.checks]
    tables.print_table(out, "certificate", ("check", "result", "worst"), checks)
    if certificate.limit_sources:
        told = f"limits from {certificate.limit_sources}"
        out.print(told, markup=False, soft_wrap=True)
    if certificate.efforts is None:
        return
    peaks = [
        (
            peak.joint,
            f"{peak.reached:.4g}",
            f"{peak.bound:.4g}",
            f"{peak.limit:g}" if np.isfinite(peak.limit) else "-",
            peak.unit,
            peak.when,
        )
        for peak in certificate.efforts.peaks
    ]
    header = ("joint", "reached", "never above", "limit", "unit", "when")
    tables.print_table(out, "largest efforts of the prior, braking included", header, peaks)
