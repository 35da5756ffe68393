-- phase: backfill
-- What was used gets its whole amount, a row for each value that a policy groups by.

WITH batch AS (
  SELECT id FROM usage_limit_policy_entities WHERE ($1::text IS NULL OR id > $1::uuid) ORDER BY id LIMIT $2
), filled AS (
  UPDATE usage_limit_policy_entities SET current_usage_pico = current_usage * 1e12
  WHERE id IN (SELECT id FROM batch) AND current_usage_pico IS NULL
)
SELECT (SELECT id::text FROM batch ORDER BY id DESC LIMIT 1) AS cursor, count(*) AS processed FROM batch;
