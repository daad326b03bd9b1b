#!/bin/bash
# instrument, killed at every point; see kill_points.bash.
set -u
# shellcheck source=tests/e2e/kill_points.bash
. "$(dirname "$0")/kill_points.bash" "$@"

each bare instrument "$service" --for 2h --yes
bare
[ -z "$(ls -d /etc/pamprof/"$service".* "$shims/$service".* 2> /dev/null)" ] ||
    fail "folders are left behind"
exit $failed
