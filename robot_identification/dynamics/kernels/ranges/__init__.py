"""Compiled ranges of efforts over cells of motions, as affine forms."""
