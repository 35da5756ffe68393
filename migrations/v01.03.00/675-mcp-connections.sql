-- phase: expand
-- People connect MCP servers by their browser. A request waits for its person, and is used once: of its state only a keyed hash is kept. A registration is
-- Gatehouse as a client of one authorization server, which was made for one integration.

CREATE TABLE mcp_connection_requests (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  session_id uuid NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  contents bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mcp_connection_requests_user ON mcp_connection_requests (user_id, created_at DESC, id DESC);
CREATE INDEX mcp_connection_requests_expiry ON mcp_connection_requests (expires_at);
CREATE INDEX mcp_connection_requests_server ON mcp_connection_requests (server_id);

CREATE TABLE mcp_client_registrations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES mcp_integrations (id) ON DELETE CASCADE,
  issuer varchar(2048) NOT NULL,
  redirect_uri varchar(2048) NOT NULL,
  contents bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX mcp_client_registrations_integration ON mcp_client_registrations (integration_id);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['mcp_connection_requests', 'mcp_client_registrations'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()))', business);
  END LOOP;
END $$;
