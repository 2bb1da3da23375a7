"""The embedded P4 target: runs compiled BMv2 JSON as native code and serves P4Runtime."""
