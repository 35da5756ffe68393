-- phase: expand
-- An attempt may have begun a job before a guardrail denied its answer and another attempt took its place: it runs at the provider, and costs. So a log
-- may have several jobs, each by the attempt that began it.

ALTER TABLE provider_batches ADD COLUMN log_id uuid, ADD COLUMN attempt smallint;
COMMENT ON COLUMN provider_batches.log_id IS 'The log of the request that began it; null: the id, as of the job of the last attempt.';
COMMENT ON COLUMN provider_batches.attempt IS 'The attempt that began it; null: the last.';
ALTER TABLE cost_adjustments ADD COLUMN job jsonb;
COMMENT ON COLUMN cost_adjustments.job IS 'What a job alone was: {attempt, state}; null: it is none, or the former release settled it.';
