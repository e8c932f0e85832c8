"""Robot files in YAML: from the document to the model of the robot."""
