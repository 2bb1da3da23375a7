"""SoftRoCE hosts: small QEMU guests with Debian's kernel, rdma_rxe and the RDMA tools."""
