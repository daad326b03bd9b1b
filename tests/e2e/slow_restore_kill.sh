#!/bin/bash
# restore, and the repairs of status, killed at every point.
set -u
# shellcheck source=tests/e2e/kill_points.bash
. "$(dirname "$0")/kill_points.bash" "$@"

each instrumented restore "$service"
[ $failed -eq 0 ] && each broken_off status
[ $failed -eq 0 ] && each retired status
bare
[ -z "$(ls -d /etc/pamprof/"$service".* "$shims/$service".* 2> /dev/null)" ] ||
    fail "folders are left behind"
exit $failed
