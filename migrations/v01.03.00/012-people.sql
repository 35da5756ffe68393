-- phase: expand
-- The people of an organisation, their places in its workspaces, and invitations. A change of a membership is told as a change
-- of its user, because what is known of a user's key depends on it, also while there is none.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  email varchar(320) NOT NULL,
  first_name varchar(255),
  last_name varchar(255),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email ON users (organisation_id, email) WHERE status <> 'archived';
COMMENT ON COLUMN users.email IS 'In lower case.';

CREATE TABLE workspace_members (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  user_id uuid NOT NULL REFERENCES users (id),
  role text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, user_id)
);
CREATE INDEX workspace_members_user ON workspace_members (user_id);

CREATE TABLE invites (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  email varchar(320) NOT NULL,
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  workspaces jsonb NOT NULL DEFAULT '[]',
  api_key_scopes text[],
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'cancelled', 'accepted')),
  token_hash bytea NOT NULL UNIQUE,
  invited_by uuid,
  user_id uuid REFERENCES users (id),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX invites_pending ON invites (organisation_id, email) WHERE status = 'pending';
COMMENT ON COLUMN invites.token_hash IS 'Keyed hash of the secret in the invitation link.';
COMMENT ON COLUMN invites.api_key_scopes IS 'Scopes of the API key that whoever accepts gets in each workspace; null: no key.';

ALTER TABLE workspaces ADD COLUMN access_overrides jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN workspaces.access_overrides IS 'Settings that differ from those of the organisation: { category: { setting: boolean } }.';
CREATE INDEX api_keys_user ON api_keys (user_id) WHERE user_id IS NOT NULL;

CREATE FUNCTION record_member_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  changed := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO changes (kind, organisation_id, entity_id) VALUES ('users', changed.organisation_id, changed.user_id);
  PERFORM pg_notify('gatehouse_changes', 'users:' || changed.user_id);
  RETURN NULL;
END $$;

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['users', 'workspace_members', 'invites'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
CREATE TRIGGER users_changes AFTER INSERT OR UPDATE OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION record_change();
CREATE TRIGGER workspace_members_changes AFTER INSERT OR UPDATE OR DELETE ON workspace_members FOR EACH ROW EXECUTE FUNCTION record_member_change();
