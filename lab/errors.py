"""What can go wrong in the laboratory."""


class LabError(Exception):
    """A network that cannot be, or a request it does not fit; the message says what to change."""
