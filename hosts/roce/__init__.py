"""RoCEv2 traffic without RDMA hardware: the native program `fcn-roce` and its Python side.

The sources in `src/` are compiled with the system's C compiler on first use (`build`), run with
typed options (`options`) and leave JSON lines that `log` reads back. FCN-14.
"""
