"""Rows as text, as plain data, and as the table of docs/performance.md."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from goals.measuring import Row, Verdict

BEGIN = "<!-- measured: written by `make benchmark` -->"
END = "<!-- end of measured -->"


def machine_text(machine: dict[str, Any]) -> str:
    """Return a description of the machine in one paragraph."""
    top = machine["peaks"]
    changed = ", with changes" if machine["changed"] else ""
    return (
        f"{machine['processor']}, {machine['cores_used']} of {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, Python {machine['python']}, "
        + ", ".join(f"{k} {v}" for k, v in machine["packages"].items() if v)
        + f"; commit {machine['commit'][:10]}{changed}; load {machine['load_at_start']}. "
        f"Matrix product {top['product_gflops']:.0f} GF/s (one thread), "
        f"{top['product_gflops_two']:.0f} (two); copy {top['copy_gbytes']:.0f} GB/s (one thread)."
    )


def row_text(row: Row) -> str:
    """Return a row for people."""
    lines = [row.title]
    lines += [
        f"  {f.case:28s} {f.name:44s} {f.value:10.4g} {f.unit} ({f.low:.4g} to {f.high:.4g})"
        for f in row.figures
    ]
    for v in row.verdicts:
        lines.append(f"  {v.case}: {v.goal}: {_reached(v)}, goal {v.wanted:g}: {_word(v)}")
        if v.bound:
            lines.append(f"      {v.bound}")
    return "\n".join(lines + [f"  {remark}" for remark in row.remarks])


def row_data(row: Row) -> dict[str, Any]:
    """Return a row as plain data."""
    verdicts = [asdict(v) | {"met": v.met, "missing_factor": v.missing} for v in row.verdicts]
    return asdict(row) | {"verdicts": verdicts}


def update_page(page: Path, rows: dict[str, Any]) -> None:
    """Put the rows between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{_page_part(rows)}\n{END}{after}", encoding="utf-8")


def _page_part(rows: dict[str, Any]) -> str:
    machines = {machine_text(entry["machine"]): None for entry in rows.values()}
    lines = ["", *machines, "", "### Goals", ""]
    lines += ["| row | case | goal | wanted | reached | | bound |", "|---|---|---|---|---|---|---|"]
    for entry in rows.values():
        for data in entry["verdicts"]:
            fields = {k: v for k, v in data.items() if k not in ("met", "missing_factor")}
            v = Verdict(**fields)
            sign = "≥" if v.at_least else "≤"
            lines.append(
                f"| {entry['title']} | {v.case} | {v.goal} | {sign} {v.wanted:g} | {_reached(v)} "
                f"| {_word(v)} | {v.bound} |"
            )
    lines += ["", "### Figures", "", "Medians, and first to third quartile.", ""]
    lines += ["| row | case | | median | quartiles |", "|---|---|---|---|---|"]
    for entry in rows.values():
        for f in entry["figures"]:
            lines.append(
                f"| {entry['title']} | {f['case']} | {f['name']} | {f['value']:.3g} {f['unit']} "
                f"| {f['low']:.3g} to {f['high']:.3g} |"
            )
    remarks = [remark for entry in rows.values() for remark in entry["remarks"]]
    return "\n".join([*lines, "", *(f"- {remark}" for remark in remarks), ""])


def _reached(verdict: Verdict) -> str:
    more = ("more than " if verdict.at_least else "less than ") if verdict.only_bounded else ""
    return f"{more}{verdict.reached:.3g}"


def _word(verdict: Verdict) -> str:
    return "met" if verdict.met else f"missed by a factor of {verdict.missing:.2f}"
