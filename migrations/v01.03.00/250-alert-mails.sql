-- phase: expand
-- Alerts are mailed, and so is that a key or a provider has expired: each once, in the transaction that queues its mails.

ALTER TABLE limit_alerts
  ADD COLUMN queued_at timestamptz,
  ALTER COLUMN counter DROP NOT NULL,
  ALTER COLUMN slot DROP NOT NULL,
  ALTER COLUMN counts DROP NOT NULL,
  ALTER COLUMN used DROP NOT NULL,
  ALTER COLUMN bound DROP NOT NULL,
  DROP CONSTRAINT limit_alerts_kind_check,
  ADD CONSTRAINT limit_alerts_kind CHECK (kind = 'expired' OR (kind IN ('threshold', 'exhausted') AND counter IS NOT NULL AND slot IS NOT NULL AND counts IS NOT NULL AND used IS NOT NULL AND bound IS NOT NULL));
COMMENT ON COLUMN limit_alerts.queued_at IS 'Its mails were queued then, or it was found that there is nobody to tell.';
CREATE INDEX limit_alerts_unqueued ON limit_alerts (created_at) WHERE queued_at IS NULL;
