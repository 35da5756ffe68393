-- phase: expand
-- People let programs, the clients of MCP, use an MCP server as themselves. A sign-in is what a person allowed: one program, one server. The secrets of
-- it are short-lived or used up: codes, tokens, and the requests that wait for a person. Of each only a keyed hash is kept, with its contents sealed.

CREATE TABLE mcp_sign_ins (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  user_id uuid NOT NULL REFERENCES users (id),
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  client_id varchar(2048) NOT NULL,
  client_name varchar(255),
  redirect_uri varchar(2048) NOT NULL,
  resource varchar(2048) NOT NULL,
  last_refreshed_at timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mcp_sign_ins_user ON mcp_sign_ins (user_id, created_at DESC, id DESC);
CREATE INDEX mcp_sign_ins_organisation ON mcp_sign_ins (organisation_id, created_at DESC, id DESC);
CREATE INDEX mcp_sign_ins_server ON mcp_sign_ins (server_id);
CREATE INDEX mcp_sign_ins_expiry ON mcp_sign_ins (expires_at);
COMMENT ON COLUMN mcp_sign_ins.resource IS 'The address of the server as the program names it (RFC 8707).';

CREATE TABLE mcp_sign_in_secrets (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  sign_in_id uuid REFERENCES mcp_sign_ins (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id),
  kind text NOT NULL CHECK (kind IN ('Interaction', 'AuthorizationCode', 'AccessToken', 'RefreshToken')),
  key_hash bytea NOT NULL UNIQUE,
  contents bytea NOT NULL,
  consumed_at timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mcp_sign_in_secrets_sign_in ON mcp_sign_in_secrets (sign_in_id, kind, created_at DESC, id DESC);
CREATE INDEX mcp_sign_in_secrets_user ON mcp_sign_in_secrets (user_id, created_at DESC, id DESC) WHERE kind = 'Interaction';
CREATE INDEX mcp_sign_in_secrets_expiry ON mcp_sign_in_secrets (expires_at);
COMMENT ON COLUMN mcp_sign_in_secrets.sign_in_id IS 'Null: a request on which its person has not decided yet.';

CREATE TABLE mcp_client_documents (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  client_id varchar(2048) NOT NULL,
  document text NOT NULL,
  fetched_at timestamptz NOT NULL,
  fresh_until timestamptz NOT NULL
);
CREATE UNIQUE INDEX mcp_client_documents_client ON mcp_client_documents (organisation_id, client_id);
CREATE INDEX mcp_client_documents_age ON mcp_client_documents (organisation_id, fetched_at DESC, id DESC);
COMMENT ON TABLE mcp_client_documents IS 'The metadata documents of programs, as each organisation fetched them last.';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['mcp_sign_ins', 'mcp_sign_in_secrets', 'mcp_client_documents'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()))', business);
  END LOOP;
END $$;
CREATE TRIGGER mcp_sign_ins_changes AFTER INSERT OR UPDATE OR DELETE ON mcp_sign_ins FOR EACH ROW EXECUTE FUNCTION record_change();
