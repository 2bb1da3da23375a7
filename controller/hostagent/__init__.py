"""Queue pairs reported by hosts, for connections that are set up without CM (FCN-3 a).

`agent` runs on a host (`fcn host-agent`) and reads its RDMA devices through `rdma`; `service`
receives the reports, `reports` validates them and finds the sender of a flow in them.
"""
