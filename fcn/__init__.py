"""Fast congestion notification for RoCEv2 across wide-area networks.

The links in this folder make the repository's top-level folders the packages `fcn.controller`,
`fcn.softswitch` and so on, in a checkout as in the installed wheel.
"""
