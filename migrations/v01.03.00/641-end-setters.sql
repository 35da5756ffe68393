-- phase: expand
-- The end of a key or provider, and the rotation of a key, are changed by callers that rank as high as the one that set them, as limits are. No row says
-- which caller has set those that there are: they count as their maker's, where an owner or admin of the organisation or one of its keys has made them.

UPDATE api_keys k SET setter_ranks = setter_ranks
  || CASE WHEN expires_at IS NOT NULL THEN '{"expires_at": "organisation-admin"}'::jsonb ELSE '{}' END
  || CASE WHEN coalesce(rotation_policy, 'null') NOT IN ('null', '{}') THEN '{"rotation_policy": "organisation-admin"}'::jsonb ELSE '{}' END
 WHERE (EXISTS (SELECT 1 FROM users u WHERE u.id = k.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
        OR EXISTS (SELECT 1 FROM api_keys m WHERE m.id = k.created_by AND m.type = 'organisation-service'))
   AND (expires_at IS NOT NULL OR rotation_policy IS NOT NULL);

UPDATE providers p SET setter_ranks = setter_ranks || '{"expires_at": "organisation-admin"}'::jsonb
 WHERE (EXISTS (SELECT 1 FROM users u WHERE u.id = p.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
        OR EXISTS (SELECT 1 FROM api_keys m WHERE m.id = p.created_by AND m.type = 'organisation-service'))
   AND expires_at IS NOT NULL;
