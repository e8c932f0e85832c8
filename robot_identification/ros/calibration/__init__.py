"""The node that hands identified parameters back: consistent, as messages, URDF and files."""
