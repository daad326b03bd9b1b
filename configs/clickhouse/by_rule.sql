-- What "pamprof report --by rule" counts: calls and their lower median, which
-- is the exact one here and within 0.8 % there.
SELECT
    concat(phase, ' ', assumeNotNull(file), ':', toString(assumeNotNull(line)),
           ' ', assumeNotNull(module)) AS rule,
    count() AS calls,
    arraySort(groupArray(assumeNotNull(wall)))[intDiv(count() + 1, 2)] AS median
FROM spans
WHERE NOT unfinished
GROUP BY rule
ORDER BY rule
FORMAT JSONCompact
