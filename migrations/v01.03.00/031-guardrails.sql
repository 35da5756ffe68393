-- phase: expand
-- Guardrails of a workspace, or of the whole organisation. The checks are sealed, because their parameters may hold credentials.

CREATE TABLE guardrails (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  version_id uuid NOT NULL,
  checks bytea NOT NULL,
  actions jsonb NOT NULL,
  owner_id uuid,
  updated_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX guardrails_slug ON guardrails (organisation_id, slug) WHERE status = 'active';
CREATE INDEX guardrails_list ON guardrails (organisation_id, workspace_id, created_at DESC, id DESC) WHERE status = 'active';
COMMENT ON COLUMN guardrails.checks IS 'The checks as sealed JSON; additional data binds it to this column and row.';

ALTER TABLE guardrails ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON guardrails USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE TRIGGER guardrails_changes AFTER INSERT OR UPDATE OR DELETE ON guardrails FOR EACH ROW EXECUTE FUNCTION record_change();
