"""Generated messages and stubs of the softswitch's own gRPC services; `make -C softswitch/proto`."""
