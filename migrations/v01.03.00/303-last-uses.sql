-- phase: expand
-- When a key or a provider was used last is read from the roll-ups of days.

CREATE INDEX usage_days_api_key ON usage_days (organisation_id, api_key_id, bucket);
CREATE INDEX usage_days_provider ON usage_days (organisation_id, workspace_id, provider_slug, bucket);
