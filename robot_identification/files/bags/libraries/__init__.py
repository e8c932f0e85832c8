"""Libraries that read and write the files of bags, behind one interface."""
