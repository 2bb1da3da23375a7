"""The live page: a client of the controller's API that shows the network in a browser."""
