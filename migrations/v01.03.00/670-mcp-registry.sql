-- phase: expand
-- The registry of MCP: where servers are and how one signs in there, which workspaces may use them, which of their tools, prompts and
-- resources are seen, and which of these a workspace lets its callers use. A definition is pinned by its hash, so that a changed tool is met
-- as a changed one.

CREATE TABLE mcp_integrations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  description text,
  url text NOT NULL,
  auth_type text NOT NULL CHECK (auth_type IN ('none', 'headers', 'oauth_auto', 'oauth_client_credentials')),
  transport text NOT NULL CHECK (transport IN ('http', 'sse')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  custom_headers bytea,
  custom_header_names text[] NOT NULL DEFAULT '{}',
  passthrough_headers jsonb NOT NULL DEFAULT '{}',
  global_workspace_access jsonb,
  server_info jsonb,
  capability_flags jsonb,
  protocol_versions text[] NOT NULL DEFAULT '{}',
  era text CHECK (era IN ('modern', 'legacy')),
  sync_status text NOT NULL DEFAULT 'never' CHECK (sync_status IN ('never', 'synced', 'failed')),
  last_sync_at timestamptz,
  sync_error text,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX mcp_integrations_slug ON mcp_integrations (organisation_id, slug) WHERE status = 'active';
CREATE INDEX mcp_integrations_list ON mcp_integrations (organisation_id, created_at DESC, id DESC) WHERE status = 'active';
CREATE INDEX mcp_integrations_workspace ON mcp_integrations (workspace_id) WHERE status = 'active';
COMMENT ON COLUMN mcp_integrations.workspace_id IS 'Null: the whole organisation''s.';
COMMENT ON COLUMN mcp_integrations.custom_headers IS 'Headers that each call of the server carries, as sealed JSON; additional data binds it to this column and row.';
COMMENT ON COLUMN mcp_integrations.passthrough_headers IS 'The header of the server, and the header of the caller from which its value comes.';
COMMENT ON COLUMN mcp_integrations.server_info IS 'What the server says of itself; null: it was never asked.';

CREATE TABLE mcp_integration_workspaces (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES mcp_integrations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (integration_id, workspace_id)
);
CREATE INDEX mcp_integration_workspaces_workspace ON mcp_integration_workspaces (workspace_id);
COMMENT ON TABLE mcp_integration_workspaces IS 'Stands above the global access of the integration: a row that is not enabled keeps its workspace out.';

CREATE TABLE mcp_servers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  integration_id uuid NOT NULL REFERENCES mcp_integrations (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  description text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  default_access text NOT NULL DEFAULT 'deny' CHECK (default_access IN ('allow', 'deny')),
  default_user_access text NOT NULL DEFAULT 'allow' CHECK (default_user_access IN ('allow', 'deny')),
  pinning text NOT NULL DEFAULT 'flag' CHECK (pinning IN ('off', 'flag', 'hold')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX mcp_servers_slug ON mcp_servers (workspace_id, slug) WHERE status = 'active';
CREATE INDEX mcp_servers_list ON mcp_servers (organisation_id, created_at DESC, id DESC) WHERE status = 'active';
CREATE INDEX mcp_servers_integration ON mcp_servers (integration_id) WHERE status = 'active';
COMMENT ON COLUMN mcp_servers.default_access IS 'For tools, prompts and resources that no row names.';
COMMENT ON COLUMN mcp_servers.default_user_access IS 'For users that no row names.';

CREATE TABLE mcp_capabilities (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES mcp_integrations (id),
  type text NOT NULL CHECK (type IN ('tool', 'prompt', 'resource', 'resource_template')),
  name text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  definition jsonb NOT NULL,
  hash text NOT NULL,
  input_hash text NOT NULL,
  tokens integer NOT NULL DEFAULT 0,
  is_removed boolean NOT NULL DEFAULT false,
  first_seen_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (integration_id, type, name)
);
COMMENT ON COLUMN mcp_capabilities.name IS 'Of a resource its URI, of a template its URI template: their names need not be unique.';
COMMENT ON COLUMN mcp_capabilities.hash IS 'Of the canonical form of what a pin covers.';
COMMENT ON COLUMN mcp_capabilities.input_hash IS 'Of the input alone: while it is unchanged, a held tool goes on as it was approved.';

CREATE TABLE mcp_capability_versions (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  capability_id uuid NOT NULL REFERENCES mcp_capabilities (id),
  definition jsonb NOT NULL,
  hash text NOT NULL,
  seen_at timestamptz NOT NULL
);
CREATE INDEX mcp_capability_versions_capability ON mcp_capability_versions (capability_id, seen_at DESC, id DESC);

CREATE TABLE mcp_server_capabilities (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  server_id uuid NOT NULL REFERENCES mcp_servers (id),
  type text NOT NULL CHECK (type IN ('tool', 'prompt', 'resource', 'resource_template')),
  name text NOT NULL,
  enabled boolean,
  pinned_hash text,
  pinned_input_hash text,
  pinned_definition jsonb,
  rejected_hash text,
  told_hash text,
  decided_by uuid,
  decided_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (server_id, type, name)
);
COMMENT ON COLUMN mcp_server_capabilities.enabled IS 'Null: by the default of the server.';
COMMENT ON COLUMN mcp_server_capabilities.pinned_hash IS 'The definition that was approved; null: none.';
COMMENT ON COLUMN mcp_server_capabilities.told_hash IS 'The definition of which an event has told that it is held or changed.';

CREATE TABLE mcp_server_users (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  server_id uuid NOT NULL REFERENCES mcp_servers (id),
  user_id uuid NOT NULL REFERENCES users (id),
  enabled boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (server_id, user_id)
);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['mcp_integrations', 'mcp_integration_workspaces', 'mcp_servers', 'mcp_capabilities', 'mcp_capability_versions', 'mcp_server_capabilities', 'mcp_server_users'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()))', business);
  END LOOP;
  FOREACH business IN ARRAY ARRAY['mcp_integrations', 'mcp_servers'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION record_change()', business || '_changes', business);
  END LOOP;
END $$;

-- The parts of an integration and of a server are told as changes of these, once a statement.
CREATE FUNCTION record_mcp_part_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  FOR changed IN EXECUTE format('SELECT DISTINCT organisation_id, %I AS whole FROM touched', TG_ARGV[1]) LOOP
    INSERT INTO changes (kind, organisation_id, entity_id) VALUES (TG_ARGV[0], changed.organisation_id, changed.whole);
    PERFORM pg_notify('gatehouse_changes', TG_ARGV[0] || ':' || changed.whole);
  END LOOP;
  RETURN NULL;
END $$;
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT * FROM (VALUES
      ('mcp_integration_workspaces', 'mcp_integrations', 'integration_id'),
      ('mcp_capabilities', 'mcp_integrations', 'integration_id'),
      ('mcp_server_capabilities', 'mcp_servers', 'server_id'),
      ('mcp_server_users', 'mcp_servers', 'server_id')) AS parts (name, whole, reference) LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_mcp_part_change(%L, %L)', part.name || '_inserted', part.name, part.whole, part.reference);
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_mcp_part_change(%L, %L)', part.name || '_updated', part.name, part.whole, part.reference);
    EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_mcp_part_change(%L, %L)', part.name || '_deleted', part.name, part.whole, part.reference);
  END LOOP;
END $$;
