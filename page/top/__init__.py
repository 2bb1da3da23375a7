"""`fcn top`: the network in the terminal, by Textual."""
