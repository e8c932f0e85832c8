"""Which parameters a model can tell apart: grouping rules, factorisations, their agreement."""
