-- phase: expand
-- People and groups that an identity provider writes by SCIM 2.0. What a user is besides (their name, address and status) stays in users;
-- here is what only the identity provider knows of them. Each of its clients has a token, of which the database has a keyed hash.

CREATE TABLE scim_tokens (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  token_hash bytea UNIQUE,
  token_hint varchar(32) NOT NULL,
  previous_token_hash bytea UNIQUE,
  previous_token_expires_at timestamptz,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status = 'archived' OR token_hash IS NOT NULL)
);
CREATE INDEX scim_tokens_organisation ON scim_tokens (organisation_id, created_at);
COMMENT ON COLUMN scim_tokens.token_hash IS 'Keyed hash of the token; erased when the row is archived.';

CREATE TABLE scim_users (
  id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_name varchar(320) NOT NULL,
  external_id text,
  attributes jsonb NOT NULL DEFAULT '{}',
  given_role text CHECK (given_role IN ('owner', 'admin')),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX scim_users_user_name ON scim_users (organisation_id, lower(user_name));
CREATE INDEX scim_users_external_id ON scim_users (organisation_id, external_id) WHERE external_id IS NOT NULL;
COMMENT ON TABLE scim_users IS 'The row of a user whom an identity provider has written; its id is that of the user.';
COMMENT ON COLUMN scim_users.attributes IS 'The attributes of RFC 7643 that no column holds, under its names.';
COMMENT ON COLUMN scim_users.given_role IS 'The role in the organisation that groups have given: it goes when they no longer give it. Null: none.';

CREATE TABLE scim_groups (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  display_name varchar(255) NOT NULL,
  external_id text,
  named_workspace text,
  named_role text CHECK (named_role IN ('admin', 'manager', 'member')),
  organisation_role text CHECK (organisation_role IN ('owner', 'admin')),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX scim_groups_display_name ON scim_groups (organisation_id, lower(display_name));
CREATE INDEX scim_groups_external_id ON scim_groups (organisation_id, external_id) WHERE external_id IS NOT NULL;
COMMENT ON COLUMN scim_groups.named_workspace IS 'With named_role: the workspace, by slug or name, and the role there that the name of the group says. Null: it says none.';
COMMENT ON COLUMN scim_groups.organisation_role IS 'The role in the organisation that the name of the group says. Null: it says none.';

CREATE TABLE scim_group_members (
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  group_id uuid NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX scim_group_members_user ON scim_group_members (user_id);

ALTER TABLE workspace_members ADD COLUMN by_group boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN workspace_members.by_group IS 'Groups of the identity provider gave the place: it goes when they no longer give it.';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['scim_tokens', 'scim_users', 'scim_groups', 'scim_group_members'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
