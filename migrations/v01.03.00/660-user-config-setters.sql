-- phase: expand
-- The config of the user keys of a workspace is changed by callers that rank as high as the one that set it, as its guardrails are. No row says which
-- caller has set those that there are: as the other limits of workspaces from before, they count as the organisation's, which makes workspaces.

UPDATE workspaces SET setter_ranks = setter_ranks || '{"defaults.user_api_key_config": "organisation-admin"}'::jsonb
 WHERE coalesce(defaults ->> 'user_api_key_config', '') <> '';
