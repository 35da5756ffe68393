-- phase: expand
-- Alerts go to webhooks too. What is to be sent waits here, from the transaction of the alert until the receiver took it or it is given up.

CREATE TABLE alert_webhooks (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  name varchar(255) NOT NULL,
  url text NOT NULL,
  events text[],
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  secret bytea,
  created_by uuid,
  updated_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status = 'archived' OR secret IS NOT NULL)
);
COMMENT ON COLUMN alert_webhooks.workspace_id IS 'Null: it hears the alerts of the whole organisation.';
COMMENT ON COLUMN alert_webhooks.events IS 'Null: all.';
COMMENT ON COLUMN alert_webhooks.secret IS 'What deliveries are signed with, sealed.';
CREATE INDEX alert_webhooks_organisation ON alert_webhooks (organisation_id, created_at);

CREATE TABLE alert_deliveries (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  webhook_id uuid NOT NULL REFERENCES alert_webhooks (id) ON DELETE CASCADE,
  alert_id uuid NOT NULL,
  body text NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  last_status integer,
  last_error text,
  finished_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, alert_id)
);
CREATE INDEX alert_deliveries_due ON alert_deliveries (next_attempt_at) WHERE state = 'pending';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['alert_webhooks', 'alert_deliveries'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
