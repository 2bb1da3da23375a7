"""RoCEv2 traffic without RDMA hardware: the native program `fcn-roce` and its Python side.

The sources in `src/` are compiled with the system's C compiler on first use (`build`). The program
is run with typed options (`options`) and writes JSON lines, which `log` parses. FCN-14.
"""
