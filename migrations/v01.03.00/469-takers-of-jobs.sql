-- phase: expand
-- A job is asked for where it was begun. Its provider may have another host by then, at which nobody knows it, or another one knows its id.

ALTER TABLE provider_batches ADD COLUMN provider_id uuid, ADD COLUMN host text;
COMMENT ON COLUMN provider_batches.provider_id IS 'The stored provider that took it; null: the former release noted its slug alone.';
COMMENT ON COLUMN provider_batches.host IS 'The host that was asked: the one stored with the provider, or the origin of the catalogue''s.';
