"""The search for motions that condition a system well."""
