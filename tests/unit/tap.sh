#!/bin/bash
# Runs a cmocka program. cmocka 1.1 calls a skipped test "not ok", which TAP readers take for a failure.
"$@" | sed -u 's/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/'
exit "${PIPESTATUS[0]}"
