"""How C is built for tests that shall find its faults."""

SANITIZERS = (
    "-Og",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    # Accesses are checked by calls, which takes the compiler a third less than code for each.
    "--param=asan-instrumentation-with-call-threshold=0",
)
