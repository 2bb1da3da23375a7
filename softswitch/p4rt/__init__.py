"""P4Runtime server of the softswitch.

The core (schema, entity stores, arbitration, digest lists) is plain Python that knows nothing of
gRPC; `service` and `trafficmanager` put it on the wire.
"""
