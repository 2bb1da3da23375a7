"""Programs that play an end system: RoCEv2 host, delay line, guests with a real kernel."""
