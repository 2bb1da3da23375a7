"""C of the packet engine, compiled together with each generated program."""
