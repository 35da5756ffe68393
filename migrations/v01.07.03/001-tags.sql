-- phase: expand
-- Tags are pairs of a name and a value that people choose; lists are filtered by them.

ALTER TABLE integrations ADD COLUMN tags jsonb NOT NULL DEFAULT '{}';
ALTER TABLE providers ADD COLUMN tags jsonb NOT NULL DEFAULT '{}';
CREATE INDEX integrations_tags ON integrations USING gin (tags jsonb_path_ops);
CREATE INDEX providers_tags ON providers USING gin (tags jsonb_path_ops);
