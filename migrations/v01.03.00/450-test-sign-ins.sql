-- phase: expand
-- A test sign-in goes the whole way to the identity provider and back, and changes nothing: who set the provider up sees which claims came,
-- and what they would give. The outcome holds what the provider says of a person, so it is sealed, and rows live for a day.

CREATE TABLE test_sign_ins (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  token_hash bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  finished_at timestamptz,
  outcome bytea,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX test_sign_ins_organisation ON test_sign_ins (organisation_id, created_at);
COMMENT ON COLUMN test_sign_ins.expires_at IS 'Until when somebody may begin it.';
COMMENT ON COLUMN test_sign_ins.outcome IS 'Sealed JSON; null: nobody has come back yet.';

ALTER TABLE test_sign_ins ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON test_sign_ins USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
