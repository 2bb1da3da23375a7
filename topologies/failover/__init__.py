"""`make demo-failover`: a link dies under RDMA traffic and is mended, the controller being stopped.

run      the traffic, what happens to the link and the controller, and when packets were where
measure  times and losses of that, and what is wrong with them
report   table and plot
"""
