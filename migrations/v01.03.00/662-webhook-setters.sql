-- phase: expand
-- A receiver of alerts that was set from above is changed and deleted from above: a manager does not send the alerts of an admin elsewhere.

ALTER TABLE alert_webhooks ADD COLUMN setter_ranks jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN alert_webhooks.setter_ranks IS 'The rank of the caller who set the receiver, as the field "webhook"; absent: whoever may change receivers changes it.';

UPDATE alert_webhooks a SET setter_ranks = '{"webhook": "organisation-admin"}'
 WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = a.created_by AND u.role IN ('owner', 'admin') AND u.status = 'active')
    OR EXISTS (SELECT 1 FROM api_keys k WHERE k.id = a.created_by AND k.type = 'organisation-service');
