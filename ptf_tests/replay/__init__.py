"""Replays a capture of two hosts through PE1 - P - PE2 with the real controller."""
