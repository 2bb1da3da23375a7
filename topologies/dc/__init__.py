"""Data-centre fabrics of plain Linux forwarding: leaves, spines and a gateway to the WAN."""
