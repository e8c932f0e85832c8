"""Statistics of an estimate: standard deviations, cross-validation, residuals."""
