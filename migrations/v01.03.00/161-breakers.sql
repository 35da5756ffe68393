-- phase: expand
-- Circuit breakers that are open, so that every process leaves out a target that fails, also one that starts later, and so that people see them.

CREATE TABLE breakers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  config varchar(255),
  option text NOT NULL,
  provider varchar(255),
  opened_at timestamptz NOT NULL,
  until timestamptz NOT NULL
);
CREATE INDEX breakers_list ON breakers (organisation_id, opened_at DESC, id DESC);
COMMENT ON COLUMN breakers.id IS 'A digest of the config, of the place of the target in it, and of what the target is.';
COMMENT ON COLUMN breakers.until IS 'From then on one request tries the target.';

ALTER TABLE breakers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON breakers USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE TRIGGER breakers_changes AFTER INSERT OR UPDATE OR DELETE ON breakers FOR EACH ROW EXECUTE FUNCTION record_change();
