-- phase: expand
-- Local sign-in: passwords of people as argon2id hashes, one-time links by which they set them, and the pace of attempts. The pace is kept
-- here so that it holds over all processes; its rows have keyed hashes for names and tell of nobody.

CREATE TABLE user_passwords (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL UNIQUE REFERENCES users (id),
  password_hash text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE one_time_links (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid REFERENCES users (id),
  purpose text NOT NULL CHECK (purpose IN ('setup', 'password')),
  token_hash bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN one_time_links.user_id IS 'Null: whoever has the link becomes the first owner of the organisation.';
CREATE INDEX one_time_links_user ON one_time_links (user_id);

CREATE TABLE sign_in_pace (
  name bytea PRIMARY KEY,
  level double precision NOT NULL,
  refused boolean NOT NULL DEFAULT false,
  at timestamptz NOT NULL
);
CREATE INDEX sign_in_pace_at ON sign_in_pace (at);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['user_passwords', 'one_time_links'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
