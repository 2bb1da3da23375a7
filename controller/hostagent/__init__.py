"""Queue pairs reported by the hosts themselves, where connections are set up without CM (FCN-3 a).

`agent` runs on a host (`fcn host-agent`) and reads its RDMA devices through `rdma`; `service`
receives the reports, `reports` judges them and says which flow they explain.
"""
