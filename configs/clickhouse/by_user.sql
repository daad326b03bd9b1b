-- What "pamprof report --by user" counts: logins, from the first call to the
-- end of the last one, closing left out. Authentication has no user; the
-- login's other calls do.
SELECT
    if(name = '', '-', name) AS user,
    count() AS logins,
    arraySort(groupArray(took))[intDiv(count() + 1, 2)] AS median
FROM (
    SELECT
        host,
        login,
        max(ifNull(user, '')) AS name,
        max(start_ns + assumeNotNull(wall)) - min(start_ns) AS took
    FROM spans
    WHERE NOT unfinished AND phase NOT IN ('close_session', 'delete_cred')
    GROUP BY host, login
)
GROUP BY user
ORDER BY user
FORMAT JSONCompact
