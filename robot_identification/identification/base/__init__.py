"""Base parameters: which are identifiable, and how the others are grouped."""
