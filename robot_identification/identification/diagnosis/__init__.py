"""Diagnosis: what is wrong with a recording, a description or a fit, joint by joint."""
