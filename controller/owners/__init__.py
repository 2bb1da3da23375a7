"""One owner per P4 control, with the same name; it alone encodes and decodes the table entries."""
