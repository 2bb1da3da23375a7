"""Programs of end systems and links: RoCEv2 host, delay line, guests with a kernel of their own."""
