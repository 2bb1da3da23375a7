"""Generated code of the softswitch's own gRPC services (`make -C softswitch/proto`)."""
