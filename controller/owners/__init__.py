"""One owner per P4 control, of the same name: verbs of the control plane, entries hidden inside."""
