-- phase: expand
-- A policy that was made from above is changed and archived from above.

ALTER TABLE rate_limit_policies ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
ALTER TABLE usage_limit_policies ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN rate_limit_policies.setter_ranks IS 'The rank of the caller who set the limit, as the field "policy"; absent: whoever may change policies changes it.';
COMMENT ON COLUMN usage_limit_policies.setter_ranks IS 'The rank of the caller who set the limit, as the field "policy"; absent: whoever may change policies changes it.';

UPDATE rate_limit_policies p SET setter_ranks = '{"policy": "organisation-admin"}'
 WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = p.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
    OR EXISTS (SELECT 1 FROM api_keys k WHERE k.id = p.created_by AND k.type = 'organisation-service');
UPDATE usage_limit_policies p SET setter_ranks = '{"policy": "organisation-admin"}'
 WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = p.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
    OR EXISTS (SELECT 1 FROM api_keys k WHERE k.id = p.created_by AND k.type = 'organisation-service');
