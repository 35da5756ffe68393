-- phase: expand
-- Sessions of people who signed in. The secret of a session is in the cookie of its browser; the database has only its keyed hash. A session
-- that ended has no row, so that nothing can bring it back.

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id),
  token_hash bytea NOT NULL UNIQUE,
  previous_token_hash bytea UNIQUE,
  previous_until timestamptz,
  rights bytea NOT NULL,
  method text NOT NULL CHECK (method IN ('password', 'link', 'oidc', 'saml')),
  issuer varchar(320),
  subject varchar(320),
  provider_session varchar(320),
  client_address text NOT NULL,
  user_agent varchar(500),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_provider ON sessions (organisation_id, issuer, subject) WHERE issuer IS NOT NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at);
COMMENT ON COLUMN sessions.previous_token_hash IS 'The secret before it was renewed; it serves requests that were on their way, until previous_until.';
COMMENT ON COLUMN sessions.rights IS 'Digest of the roles of the person when the secret was made: when they change, the secret is renewed.';
COMMENT ON COLUMN sessions.provider_session IS 'The sid of the identity provider, by which it ends the session.';

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sessions USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
