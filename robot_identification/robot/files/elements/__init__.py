"""Elements of URDFs and other XML files, with their lines for messages."""
