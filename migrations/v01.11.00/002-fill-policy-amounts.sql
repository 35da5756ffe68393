-- phase: backfill
-- Policies from before get their whole amounts; what was written since has them, and keeps the digits that the decimals cannot hold.

WITH batch AS (
  SELECT id FROM usage_limit_policies WHERE ($1::text IS NULL OR id > $1::uuid) ORDER BY id LIMIT $2
), filled AS (
  UPDATE usage_limit_policies SET
    credit_limit_pico = coalesce(credit_limit_pico, credit_limit * 1e12),
    alert_threshold_pico = coalesce(alert_threshold_pico, alert_threshold * 1e12)
  WHERE id IN (SELECT id FROM batch) AND (credit_limit_pico IS NULL OR alert_threshold_pico IS NULL AND alert_threshold IS NOT NULL)
)
SELECT (SELECT id::text FROM batch ORDER BY id DESC LIMIT 1) AS cursor, count(*) AS processed FROM batch;
