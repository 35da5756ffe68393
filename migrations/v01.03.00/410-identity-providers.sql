-- phase: expand
-- The identity provider by which people of an organisation sign in, the groups that it told of them when they last did, and the sign-ins
-- that have been used, so that none serves twice.

CREATE TABLE identity_providers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL UNIQUE REFERENCES organisations (id),
  type text NOT NULL CHECK (type IN ('oidc', 'saml')),
  name varchar(255) NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  issuer varchar(320) NOT NULL,
  client_id varchar(320) NOT NULL,
  client_secret bytea,
  settings jsonb NOT NULL DEFAULT '{}',
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN identity_providers.client_secret IS 'Sealed: the secret, or the private key, by which we show the provider who we are.';

CREATE TABLE sso_groups (
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name varchar(255) NOT NULL,
  named_workspace text,
  named_role text CHECK (named_role IN ('admin', 'manager', 'member')),
  organisation_role text CHECK (organisation_role IN ('owner', 'admin')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, name)
);
CREATE INDEX sso_groups_organisation ON sso_groups (organisation_id);
COMMENT ON TABLE sso_groups IS 'The groups of a person in the claims of their last sign-in. The last columns mean what they do in scim_groups.';

CREATE TABLE used_sign_ins (
  state_hash bytea PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_sign_ins_expiry ON used_sign_ins (expires_at);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['identity_providers', 'sso_groups', 'used_sign_ins'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
