-- phase: expand
-- The attempts of a request that was sent to several targets, or more than once: so that whoever reads a log sees which target failed, and why.

ALTER TABLE log_bodies ADD COLUMN attempts jsonb;
