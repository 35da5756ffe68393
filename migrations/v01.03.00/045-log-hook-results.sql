-- phase: expand
-- What guardrails found of a request and its answer: so that whoever reads a log sees why it was denied or changed.

ALTER TABLE log_bodies ADD COLUMN hook_results jsonb;
