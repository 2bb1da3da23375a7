"""Flows and their senders: labels, connection tracking, inference, watching."""
