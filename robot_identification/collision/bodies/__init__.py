"""Bodies and their shapes: of the URDF's links, of tools, of the cell."""
