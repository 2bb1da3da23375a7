"""What builds and checks the committed parts of the project; not installed."""
