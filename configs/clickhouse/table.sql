-- A table for the lines that "pamprof report --format jsonl" writes; see
-- pamprof-records(5). Load it with
--   clickhouse-client --input_format_skip_unknown_fields 1 \
--       --query 'INSERT INTO spans FORMAT JSONEachRow' < spans.jsonl
CREATE TABLE spans (
    login String,
    span UInt64,
    host String,
    start String,
    phase String,
    unfinished UInt8,
    service Nullable(String),
    user Nullable(String),
    rhost Nullable(String),
    file Nullable(String),
    line Nullable(UInt32),
    module Nullable(String),
    result Nullable(String),
    wall Nullable(UInt64),
    cpu Nullable(UInt64),
    human Nullable(UInt64),
    prompts Nullable(UInt32),
    pid Int32,
    day Date MATERIALIZED toDate(substring(start, 1, 10)),
    start_ns UInt64 MATERIALIZED
        toUInt64(toUnixTimestamp(replaceOne(substring(start, 1, 19), 'T', ' '),
                                 'UTC')) * 1000000000 +
        toUInt64(substring(start, 21, 9))
) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (host, start, span);
