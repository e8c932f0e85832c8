"""Identification from very many bags: folded in parallel, in bounded memory, merged exactly."""
