-- phase: expand
-- MCP servers at which Gatehouse signs in by OAuth: the settings of an integration for it, and the tokens that it was given, for itself or for one
-- person at one server. A generation counts the tokens of a grant: who renews them claims the row, and stores them if it is still the one that was read.

ALTER TABLE mcp_integrations ADD COLUMN oauth jsonb, ADD COLUMN oauth_client_secret bytea;
COMMENT ON COLUMN mcp_integrations.oauth IS 'The authorization server, the client id and the scopes; null: as the server says.';
COMMENT ON COLUMN mcp_integrations.oauth_client_secret IS 'Sealed; additional data binds it to this column and row.';

CREATE TABLE mcp_grants (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES mcp_integrations (id) ON DELETE CASCADE,
  server_id uuid REFERENCES mcp_servers (id) ON DELETE CASCADE,
  user_id uuid REFERENCES users (id) ON DELETE CASCADE,
  issuer varchar(2048),
  contents bytea,
  generation integer NOT NULL DEFAULT 0,
  expires_at timestamptz,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((server_id IS NULL) = (user_id IS NULL))
);
CREATE UNIQUE INDEX mcp_grants_person ON mcp_grants (server_id, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX mcp_grants_own ON mcp_grants (integration_id) WHERE user_id IS NULL;
CREATE INDEX mcp_grants_integration ON mcp_grants (integration_id);
CREATE INDEX mcp_grants_user ON mcp_grants (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX mcp_grants_organisation ON mcp_grants (organisation_id);
COMMENT ON COLUMN mcp_grants.user_id IS 'Null: Gatehouse signs in for itself (client credentials).';
COMMENT ON COLUMN mcp_grants.contents IS 'The tokens as sealed JSON; null: none was given yet.';
COMMENT ON COLUMN mcp_grants.claimed_until IS 'One process renews the tokens until then.';

ALTER TABLE mcp_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mcp_grants USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()));
CREATE TRIGGER mcp_grants_changes AFTER INSERT OR DELETE OR UPDATE OF generation ON mcp_grants FOR EACH ROW EXECUTE FUNCTION record_change();
