-- What "pamprof report --by module" counts. Over 3000 logins of the test
-- (tests/e2e/report_clickhouse.sh) both say, as name, calls and median in ns:
--                        here       report
--   pam_env.so     14760  3330000    3325952
--   pam_permit.so  14756  4640000    4620288
SELECT
    replaceRegexpOne(assumeNotNull(module), '.*/', '') AS name,
    count() AS calls,
    arraySort(groupArray(assumeNotNull(wall)))[intDiv(count() + 1, 2)] AS median
FROM spans
WHERE NOT unfinished
GROUP BY name
ORDER BY name
FORMAT JSONCompact
