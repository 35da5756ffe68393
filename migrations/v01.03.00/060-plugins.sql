-- phase: expand
-- Credentials of partners that guardrails ask, of the organisation or of a workspace, which goes before it. They are sealed. Guardrails and
-- configs say which of them they use, so that none that is used is deleted.

CREATE TABLE plugins (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  plugin varchar(100) NOT NULL,
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  base_url text,
  credentials bytea,
  created_by uuid,
  updated_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status = 'archived' OR credentials IS NOT NULL)
);
CREATE UNIQUE INDEX plugins_once ON plugins (organisation_id, plugin, coalesce(workspace_id, organisation_id)) WHERE status = 'active';
COMMENT ON COLUMN plugins.plugin IS 'The partner: what stands before the dot of its checks.';
COMMENT ON COLUMN plugins.credentials IS 'The credentials as sealed JSON; additional data binds them to this column and row.';

ALTER TABLE plugins ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON plugins USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE TRIGGER plugins_changes AFTER INSERT OR UPDATE OR DELETE ON plugins FOR EACH ROW EXECUTE FUNCTION record_change();

ALTER TABLE guardrails ADD COLUMN plugin_references text[] NOT NULL DEFAULT '{}';
ALTER TABLE configs ADD COLUMN plugin_references text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN guardrails.plugin_references IS 'Partners whose stored credentials the checks use.';
COMMENT ON COLUMN configs.plugin_references IS 'Partners whose stored credentials the checks of the current version use.';
CREATE INDEX guardrails_plugins ON guardrails USING gin (plugin_references) WHERE status = 'active';
CREATE INDEX configs_plugins ON configs USING gin (plugin_references) WHERE status = 'active';
