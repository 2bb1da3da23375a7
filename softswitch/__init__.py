"""The embedded P4 target: compiled BMv2 JSON run natively, spoken to over P4Runtime."""
