"""Base parameters: grouping rules, factorisations, and their agreement."""
