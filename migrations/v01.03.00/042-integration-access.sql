-- phase: expand
-- Which workspaces may use an integration of the organisation, and which of its models. What a config refers to is kept beside it, so
-- that no provider that is used is deleted.

CREATE TABLE integration_workspaces (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES integrations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  enabled boolean NOT NULL DEFAULT true,
  usage_limits jsonb,
  rate_limits jsonb,
  usage_reset_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (integration_id, workspace_id)
);
CREATE INDEX integration_workspaces_workspace ON integration_workspaces (workspace_id);
COMMENT ON TABLE integration_workspaces IS 'Stands above the global access of the integration: a row that is not enabled keeps its workspace out.';
COMMENT ON COLUMN integration_workspaces.usage_reset_at IS 'What was used before it does not count against the limits.';

CREATE TABLE integration_models (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  integration_id uuid NOT NULL REFERENCES integrations (id),
  slug varchar(255) NOT NULL,
  name varchar(255),
  enabled boolean NOT NULL,
  is_custom boolean NOT NULL DEFAULT false,
  is_finetune boolean NOT NULL DEFAULT false,
  base_model_slug varchar(255),
  configurations jsonb NOT NULL DEFAULT '{}',
  pricing_config jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (integration_id, slug)
);
COMMENT ON COLUMN integration_models.slug IS 'The model as requests name it.';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['integration_workspaces', 'integration_models'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;

-- Both are parts of what providers are made of, so that their changes are told as changes of the integration, once a statement.
CREATE FUNCTION record_integration_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  FOR changed IN SELECT DISTINCT organisation_id, integration_id FROM touched LOOP
    INSERT INTO changes (kind, organisation_id, entity_id) VALUES ('integrations', changed.organisation_id, changed.integration_id);
    PERFORM pg_notify('gatehouse_changes', 'integrations:' || changed.integration_id);
  END LOOP;
  RETURN NULL;
END $$;
DO $$
DECLARE
  part text;
BEGIN
  FOREACH part IN ARRAY ARRAY['integration_workspaces', 'integration_models'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_integration_change()', part || '_inserted', part);
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_integration_change()', part || '_updated', part);
    EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION record_integration_change()', part || '_deleted', part);
  END LOOP;
END $$;

ALTER TABLE configs ADD COLUMN provider_references text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN configs.provider_references IS 'Slugs of stored providers as the current version names them.';
CREATE INDEX configs_providers ON configs USING gin (provider_references) WHERE status = 'active';
CREATE INDEX prompt_versions_provider ON prompt_versions (workspace_id, virtual_key);

-- A workspace that had a provider of an integration goes on having access to it.
SELECT set_config('app.scope', 'system', true);
INSERT INTO integration_workspaces (id, organisation_id, integration_id, workspace_id)
  SELECT gen_random_uuid(), used.organisation_id, used.integration_id, used.workspace_id
    FROM (SELECT DISTINCT p.organisation_id, p.integration_id, p.workspace_id FROM providers p JOIN integrations i ON i.id = p.integration_id
           WHERE p.status <> 'archived' AND i.status = 'active' AND i.workspace_id IS NULL) used;
SELECT set_config('app.scope', '', true);
