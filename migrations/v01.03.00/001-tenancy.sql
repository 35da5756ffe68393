-- phase: expand
-- The tenants, their keys and the guards that every later table stands on: row-level security by a per-transaction setting,
-- and a change feed that tells every gateway process what to forget.

CREATE TABLE instance_secrets (
  name text PRIMARY KEY,
  wrapped bytea NOT NULL,
  kek_fingerprint text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE instance_secrets IS 'Secrets of the whole installation (the pepper of API keys), wrapped by the key-encryption key.';

CREATE FUNCTION app_organisation() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT nullif(current_setting('app.organisation_id', true), '')::uuid $$;
CREATE FUNCTION app_is_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT current_setting('app.scope', true) = 'system' $$;

CREATE TABLE changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  kind text NOT NULL,
  organisation_id uuid NOT NULL,
  entity_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX changes_xid ON changes (xid);
COMMENT ON TABLE changes IS 'What changed, for the gateway processes that missed the notification; a reader asks for xid >= the oldest transaction it has not seen ended.';

CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  changed := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO changes (kind, organisation_id, entity_id) VALUES (TG_TABLE_NAME, changed.organisation_id, changed.id);
  PERFORM pg_notify('gatehouse_changes', TG_TABLE_NAME || ':' || changed.id);
  RETURN NULL;
END $$;

CREATE TABLE organisations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL GENERATED ALWAYS AS (id) STORED,
  slug varchar(255) NOT NULL UNIQUE,
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  settings jsonb NOT NULL DEFAULT '{}',
  defaults jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE data_keys (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  version integer NOT NULL,
  wrapped bytea NOT NULL,
  kek_fingerprint text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organisation_id, version)
);

CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  description text,
  is_default boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  defaults jsonb NOT NULL DEFAULT '{}',
  usage_limits jsonb NOT NULL DEFAULT '[]',
  rate_limits jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organisation_id, slug)
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  user_id uuid,
  name varchar(255) NOT NULL,
  description text,
  type text NOT NULL CHECK (type IN ('organisation-service', 'workspace-service', 'workspace-user')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted', 'expired', 'archived')),
  creation_mode text NOT NULL DEFAULT 'api' CHECK (creation_mode IN ('ui', 'api', 'auto')),
  scopes text[] NOT NULL,
  defaults jsonb NOT NULL DEFAULT '{}',
  rate_limits jsonb,
  usage_limits jsonb,
  alert_emails text[] NOT NULL DEFAULT '{}',
  rotation_policy jsonb,
  expires_at timestamptz,
  key_hash bytea NOT NULL UNIQUE,
  key_hint varchar(32) NOT NULL,
  previous_key_hash bytea UNIQUE,
  previous_key_expires_at timestamptz,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((type = 'organisation-service') = (workspace_id IS NULL))
);
CREATE INDEX api_keys_organisation ON api_keys (organisation_id, workspace_id, created_at);

CREATE TABLE audit_logs (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  actor_type text NOT NULL,
  actor_id uuid NOT NULL,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id uuid,
  method text NOT NULL,
  uri text NOT NULL,
  request_id text NOT NULL,
  client_ip text NOT NULL,
  response_status integer NOT NULL,
  request_body jsonb
);
CREATE INDEX audit_logs_at ON audit_logs (organisation_id, at);
