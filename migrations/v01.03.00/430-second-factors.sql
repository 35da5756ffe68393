-- phase: expand
-- Second factors of people who sign in with a password: an authenticator app (TOTP), passkeys (WebAuthn), and recovery codes for those who
-- lost them. last_step is the latest time step that was accepted: none is accepted twice, by any process. Challenges have keyed hashes for
-- names, over the browser that asked, and tell of nobody.

CREATE TABLE user_totps (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL UNIQUE REFERENCES users (id),
  secret bytea NOT NULL,
  confirmed_at timestamptz,
  last_step integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN user_totps.confirmed_at IS 'Null: the person has not shown a code yet, and signs in without one.';

CREATE TABLE recovery_codes (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id),
  code_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, code_hash)
);

CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id),
  name varchar(255) NOT NULL,
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports jsonb NOT NULL,
  backed_up boolean NOT NULL,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE passkey_challenges (
  name bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

ALTER TABLE sessions
  DROP CONSTRAINT sessions_method_check,
  ADD CONSTRAINT sessions_method_check CHECK (method IN ('password', 'link', 'oidc', 'saml', 'passkey'));

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['user_totps', 'recovery_codes', 'passkeys'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
