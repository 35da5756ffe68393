-- phase: expand
-- What a request becomes before it is sent. A version is never changed; the config names the one that counts. The whole text of a
-- version is sealed, because it may hold credentials; what it refers to is kept beside it, so that nothing that is used is deleted.

CREATE TABLE configs (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  is_default boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  version_id uuid NOT NULL,
  guardrail_references text[] NOT NULL DEFAULT '{}',
  owner_id uuid,
  updated_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX configs_slug ON configs (organisation_id, slug) WHERE status = 'active';
CREATE UNIQUE INDEX configs_default ON configs (workspace_id) WHERE is_default AND status = 'active';
CREATE INDEX configs_list ON configs (organisation_id, workspace_id, created_at DESC, id DESC) WHERE status = 'active';
CREATE INDEX configs_guardrails ON configs USING gin (guardrail_references) WHERE status = 'active';
COMMENT ON COLUMN configs.guardrail_references IS 'Slugs and ids of guardrails as the current version names them.';

CREATE TABLE config_versions (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  config_id uuid NOT NULL REFERENCES configs (id) DEFERRABLE INITIALLY DEFERRED,
  version integer NOT NULL,
  config bytea NOT NULL,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (config_id, version)
);
COMMENT ON COLUMN config_versions.config IS 'The config as sealed JSON; additional data binds it to this column and row.';
ALTER TABLE configs ADD FOREIGN KEY (version_id) REFERENCES config_versions (id) DEFERRABLE INITIALLY DEFERRED;

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['configs', 'config_versions'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;

-- A workspace's default config is part of what its keys start from, so that such a change is told as one of the workspace too.
CREATE FUNCTION record_config_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed configs;
BEGIN
  changed := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  IF changed.is_default OR (TG_OP = 'UPDATE' AND OLD.is_default) THEN
    INSERT INTO changes (kind, organisation_id, entity_id) VALUES ('workspaces', changed.organisation_id, changed.workspace_id);
    PERFORM pg_notify('gatehouse_changes', 'workspaces:' || changed.workspace_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER configs_changes AFTER INSERT OR UPDATE OR DELETE ON configs FOR EACH ROW EXECUTE FUNCTION record_change();
CREATE TRIGGER configs_workspace_changes AFTER INSERT OR UPDATE OR DELETE ON configs FOR EACH ROW EXECUTE FUNCTION record_config_change();
