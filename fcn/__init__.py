"""Fast congestion notification for RoCEv2 across wide-area networks.

The links in this folder make the repository's top-level folders the packages `fcn.controller`,
`fcn.softswitch` and so on, in a checkout as in the installed wheel.
"""

import os

# Read once by gRPC's C library, which everything here imports later: it writes a line for every TLS
# handshake that fails, so whoever reaches a port would fill the log.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
