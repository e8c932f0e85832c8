"""How far an estimate can be trusted: standard deviations, cross-validation, residuals."""
