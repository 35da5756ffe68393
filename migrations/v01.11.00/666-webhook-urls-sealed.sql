-- phase: backfill
-- The URLs of receivers are sealed by processes, since the database has no key. This waits for them, a second at a time.

WITH waiting AS (
  SELECT count(*) AS processed FROM (
    SELECT FROM alert_webhooks WHERE url_sealed IS NULL AND status = 'active' AND $1::text IS NULL LIMIT $2
  ) open
)
SELECT NULL::text AS cursor, processed FROM waiting, LATERAL (SELECT pg_sleep(CASE WHEN processed > 0 THEN 1 ELSE 0 END)) pause;
