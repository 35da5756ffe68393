-- phase: expand
-- What identity providers wrote by SCIM lately, and what was refused to them and why: who sets up provisioning sees it without the provider's
-- own logs. It is no trail (audit_logs is): a job keeps a month, and the latest thousand, of each organisation.

CREATE TABLE scim_activity (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  token_id uuid NOT NULL,
  token_name varchar(255) NOT NULL,
  operation text NOT NULL CHECK (operation IN ('create', 'replace', 'patch', 'delete', 'read')),
  resource_type text NOT NULL CHECK (resource_type IN ('User', 'Group', 'Other')),
  resource_id text,
  resource_name text,
  status integer NOT NULL,
  scim_type text,
  error text,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX scim_activity_latest ON scim_activity (organisation_id, created_at DESC, id DESC);

ALTER TABLE scim_activity ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON scim_activity USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
