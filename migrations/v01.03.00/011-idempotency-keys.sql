-- phase: expand
-- What a POST with an Idempotency-Key answered, sealed because it may hold a new secret, for as long as a client may ask again.

CREATE TABLE idempotency_keys (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  response bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  UNIQUE (organisation_id, key_hash)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
COMMENT ON COLUMN idempotency_keys.key_hash IS 'Keyed hash of who asked and of the key that they chose.';

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_keys USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
