"""Generated code of the softswitch's own gRPC services (`make proto`)."""
