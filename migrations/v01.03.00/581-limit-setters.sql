-- phase: expand
-- A limit that was set from above is changed from above: a manager neither lifts the budget of the workspace nor that of a key or provider which an admin has limited.

ALTER TABLE workspaces ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
ALTER TABLE api_keys ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
ALTER TABLE providers ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN workspaces.setter_ranks IS 'The rank of the caller who set each limit, by its field; absent: whoever may change the workspace changes it.';
COMMENT ON COLUMN api_keys.setter_ranks IS 'The rank of the caller who set each limit, by its field; absent: whoever may change the key changes it.';
COMMENT ON COLUMN providers.setter_ranks IS 'The rank of the caller who set each limit, by its field; absent: whoever may change the provider changes it.';

-- No row says who has set the limits that there are. Those of workspaces count as the organisation's, which makes workspaces; those of keys and
-- providers as their maker's, where an owner or admin of the organisation or one of its keys has made them.
UPDATE workspaces SET setter_ranks =
  CASE WHEN usage_limits <> '[]' THEN '{"usage_limits": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN rate_limits <> '[]' THEN '{"rate_limits": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN coalesce(defaults -> 'input_guardrails', '[]') <> '[]' THEN '{"defaults.input_guardrails": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN coalesce(defaults -> 'output_guardrails', '[]') <> '[]' THEN '{"defaults.output_guardrails": "organisation-admin"}'::jsonb ELSE '{}' END
 WHERE usage_limits <> '[]' OR rate_limits <> '[]' OR defaults ?| ARRAY['input_guardrails', 'output_guardrails'];

UPDATE api_keys k SET setter_ranks =
  CASE WHEN coalesce(usage_limits, 'null') NOT IN ('null', '{}') THEN '{"usage_limits": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN coalesce(rate_limits, 'null') NOT IN ('null', '[]') THEN '{"rate_limits": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN defaults -> 'allow_config_override' = 'false'
          THEN '{"defaults.allow_config_override": "organisation-admin", "defaults.config_id": "organisation-admin"}'::jsonb ELSE '{}' END
 WHERE (EXISTS (SELECT 1 FROM users u WHERE u.id = k.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
        OR EXISTS (SELECT 1 FROM api_keys m WHERE m.id = k.created_by AND m.type = 'organisation-service'))
   AND (usage_limits IS NOT NULL OR rate_limits IS NOT NULL OR defaults -> 'allow_config_override' = 'false');

UPDATE providers p SET setter_ranks =
  CASE WHEN coalesce(usage_limits, 'null') NOT IN ('null', '{}') THEN '{"usage_limits": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN coalesce(rate_limits, 'null') NOT IN ('null', '[]') THEN '{"rate_limits": "organisation-admin"}'::jsonb ELSE '{}' END
 WHERE (EXISTS (SELECT 1 FROM users u WHERE u.id = p.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
        OR EXISTS (SELECT 1 FROM api_keys m WHERE m.id = p.created_by AND m.type = 'organisation-service'))
   AND (usage_limits IS NOT NULL OR rate_limits IS NOT NULL);
