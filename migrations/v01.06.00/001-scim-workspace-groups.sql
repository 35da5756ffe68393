-- phase: expand
-- Groups of an identity provider that give their members a place in a workspace, whatever the groups are called.

CREATE TABLE scim_workspace_groups (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, group_id)
);
CREATE INDEX scim_workspace_groups_group ON scim_workspace_groups (group_id);

ALTER TABLE scim_workspace_groups ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON scim_workspace_groups USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
