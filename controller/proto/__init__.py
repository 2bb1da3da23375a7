"""The controller's own gRPC service: fcn.proto and what `make proto` generates from it."""
