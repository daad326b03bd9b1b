#!/bin/bash
# The queries of configs/clickhouse over exported spans give the counts of
# the report exactly, and its medians within their error. Starts a server of
# its own on the loopback address and ends it.
set -u
BUILD=$(realpath "${BUILD:-build}")
queries=$PWD/configs/clickhouse
for program in clickhouse-server clickhouse-client jq; do
	command -v $program > /dev/null && continue
	echo "report_clickhouse: skipped: needs $program"
	exit 77
done
work=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill $server; wait; rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir data tmp
failed=0
fail() {
	echo "report_clickhouse: $*"
	failed=1
}

cat > users.xml <<-END
	<yandex><profiles><default/></profiles><users><default>
	<password></password><networks><ip>127.0.0.1</ip></networks>
	<profile>default</profile><quota>default</quota>
	</default></users><quotas><default/></quotas></yandex>
END
client() {
	clickhouse-client --host 127.0.0.1 --port "$port" "$@"
}
# A port nobody listens on; another one if it was taken.
for _ in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 20000))
	cat > config.xml <<-END
		<yandex><logger><level>warning</level><log>$work/log</log>
		<errorlog>$work/errors</errorlog></logger>
		<http_port>$((port + 1))</http_port><tcp_port>$port</tcp_port>
		<listen_host>127.0.0.1</listen_host><path>$work/data/</path>
		<tmp_path>$work/tmp/</tmp_path>
		<users_config>users.xml</users_config>
		<default_profile>default</default_profile>
		<default_database>default</default_database>
		<mark_cache_size>5368709</mark_cache_size></yandex>
	END
	clickhouse-server --config-file="$work/config.xml" > out 2>&1 &
	server=$!
	for _ in $(seq 100); do
		client --query 'SELECT 1' > /dev/null 2>&1 && break 2
		kill -0 $server 2> /dev/null || break
		sleep 0.1
	done
	kill $server 2> /dev/null
	wait $server
	server=
done
if [ -z "$server" ]; then
	cat out
	echo "report_clickhouse: skipped: the server does not start here"
	exit 77
fi

"$BUILD/tests/fake/segment_generator" 2000 500 one > one.seg
"$BUILD/tests/fake/segment_generator" 1000 0 two su > two.seg
"$BUILD/pamprof" report one.seg two.seg --format jsonl > spans.jsonl
client --multiquery < "$queries/table.sql" || fail "table.sql"
client --input_format_skip_unknown_fields 1 \
    --query 'INSERT INTO spans FORMAT JSONEachRow' < spans.jsonl ||
    fail "the export cannot be loaded"
for key in rule module user; do
	client --query "$(cat "$queries/by_$key.sql")" |
	    jq '[.data[] | [.[0], (.[1] | tonumber), (.[2] | tonumber)]] | sort' \
	    > theirs || fail "by_$key.sql"
	"$BUILD/pamprof" report one.seg two.seg --by $key --format json |
	    jq '[.groups[] | [.key,
		(if .by == "user" then .wall.n else .calls end),
		.wall.median]] | sort' > ours
	[ "$(jq -n --slurpfile a theirs --slurpfile b ours '($a[0] | length) > 0
	    and ($a[0] | length) == ($b[0] | length) and
	    ([$a[0], $b[0]] | transpose | all(.[0][0:2] == .[1][0:2] and
		((.[0][2] - .[1][2]) | fabs) <= .[0][2] / 100))')" = true ] ||
	    fail "by $key: $(diff theirs ours | head -20)"
done
exit $failed
