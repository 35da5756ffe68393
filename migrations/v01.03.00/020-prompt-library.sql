-- phase: expand
-- Prompts live in collections of a workspace. Every workspace has a default collection and every organisation three labels from its
-- first moment, whoever makes it: so nothing has to ask whether they are there.

CREATE TABLE collections (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  parent_collection_id uuid REFERENCES collections (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  is_default boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX collections_slug ON collections (organisation_id, slug) WHERE status <> 'archived';
CREATE UNIQUE INDEX collections_default ON collections (workspace_id) WHERE is_default;
CREATE INDEX collections_workspace ON collections (workspace_id, created_at);
CREATE INDEX collections_parent ON collections (parent_collection_id);

CREATE TABLE labels (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  name varchar(255) NOT NULL,
  description text,
  color_code varchar(32),
  is_built_in boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX labels_name ON labels (organisation_id, coalesce(workspace_id, organisation_id), name) WHERE status <> 'archived';
COMMENT ON COLUMN labels.workspace_id IS 'Null: the label serves in every workspace of the organisation.';

CREATE TABLE prompts (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  collection_id uuid NOT NULL REFERENCES collections (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  published_version integer NOT NULL DEFAULT 1,
  latest_version integer NOT NULL DEFAULT 1,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX prompts_slug ON prompts (organisation_id, slug) WHERE status <> 'archived';
CREATE INDEX prompts_workspace ON prompts (workspace_id, created_at);
CREATE INDEX prompts_collection ON prompts (collection_id);

CREATE TABLE prompt_versions (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  prompt_id uuid NOT NULL REFERENCES prompts (id),
  version integer NOT NULL,
  string text NOT NULL,
  is_raw_template boolean NOT NULL DEFAULT false,
  parameters jsonb NOT NULL DEFAULT '{}',
  model text,
  virtual_key varchar(255) NOT NULL,
  functions jsonb,
  tools jsonb,
  tool_choice jsonb,
  template_metadata jsonb NOT NULL DEFAULT '{}',
  description text,
  label_id uuid REFERENCES labels (id),
  partials text[] NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (prompt_id, version)
);
CREATE UNIQUE INDEX prompt_versions_label ON prompt_versions (prompt_id, label_id) WHERE label_id IS NOT NULL;
CREATE INDEX prompt_versions_by_label ON prompt_versions (label_id) WHERE label_id IS NOT NULL;
CREATE INDEX prompt_versions_partials ON prompt_versions USING gin (partials);
COMMENT ON COLUMN prompt_versions.partials IS 'What the template includes, as written, without @version.';

CREATE TABLE prompt_partials (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  collection_id uuid NOT NULL REFERENCES collections (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  published_version integer NOT NULL DEFAULT 1,
  latest_version integer NOT NULL DEFAULT 1,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX prompt_partials_slug ON prompt_partials (organisation_id, slug) WHERE status <> 'archived';
CREATE INDEX prompt_partials_workspace ON prompt_partials (workspace_id, created_at);
CREATE INDEX prompt_partials_collection ON prompt_partials (collection_id);

CREATE TABLE prompt_partial_versions (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  prompt_partial_id uuid NOT NULL REFERENCES prompt_partials (id),
  version integer NOT NULL,
  string text NOT NULL,
  description text,
  partials text[] NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (prompt_partial_id, version)
);
CREATE INDEX prompt_partial_versions_partials ON prompt_partial_versions USING gin (partials);

-- A version is what somebody tested: only its label and its status may change.
CREATE FUNCTION keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'label_id' - 'status' <> to_jsonb(OLD) - 'label_id' - 'status' THEN
    RAISE EXCEPTION 'versions are immutable';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER prompt_versions_keep BEFORE UPDATE ON prompt_versions FOR EACH ROW EXECUTE FUNCTION keep_version();
CREATE TRIGGER prompt_partial_versions_keep BEFORE UPDATE ON prompt_partial_versions FOR EACH ROW EXECUTE FUNCTION keep_version();

-- A version is read as part of its prompt or partial: it is this that has changed.
CREATE FUNCTION record_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
  owner text := TG_ARGV[0] || 's';
  owner_id uuid := (changed ->> (TG_ARGV[0] || '_id'))::uuid;
BEGIN
  INSERT INTO changes (kind, organisation_id, entity_id) VALUES (owner, (changed ->> 'organisation_id')::uuid, owner_id);
  PERFORM pg_notify('gatehouse_changes', owner || ':' || owner_id);
  RETURN NULL;
END $$;
CREATE TRIGGER prompt_versions_changes AFTER INSERT OR UPDATE OR DELETE ON prompt_versions
  FOR EACH ROW EXECUTE FUNCTION record_version_change('prompt');
CREATE TRIGGER prompt_partial_versions_changes AFTER INSERT OR UPDATE OR DELETE ON prompt_partial_versions
  FOR EACH ROW EXECUTE FUNCTION record_version_change('prompt_partial');

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['collections', 'labels', 'prompts', 'prompt_versions', 'prompt_partials', 'prompt_partial_versions'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
  FOREACH business IN ARRAY ARRAY['collections', 'labels', 'prompts', 'prompt_partials'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION record_change()', business || '_changes', business);
  END LOOP;
END $$;

CREATE FUNCTION add_default_collection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO collections (id, organisation_id, workspace_id, slug, name, is_default)
    VALUES (gen_random_uuid(), NEW.organisation_id, NEW.id, 'default-' || left(NEW.id::text, 8) || right(NEW.id::text, 8), 'Default', true);
  RETURN NULL;
END $$;
CREATE TRIGGER workspaces_default_collection AFTER INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION add_default_collection();

CREATE FUNCTION add_built_in_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO labels (id, organisation_id, name, is_built_in)
    SELECT gen_random_uuid(), NEW.id, built_in, true FROM unnest(ARRAY['production', 'staging', 'development']) AS built_in;
  RETURN NULL;
END $$;
CREATE TRIGGER organisations_built_in_labels AFTER INSERT ON organisations FOR EACH ROW EXECUTE FUNCTION add_built_in_labels();

-- Those that were made before; row-level security shows them to the process itself only.
SELECT set_config('app.scope', 'system', true);
INSERT INTO collections (id, organisation_id, workspace_id, slug, name, is_default)
  SELECT gen_random_uuid(), organisation_id, id, 'default-' || left(id::text, 8) || right(id::text, 8), 'Default', true FROM workspaces;
INSERT INTO labels (id, organisation_id, name, is_built_in)
  SELECT gen_random_uuid(), o.id, built_in, true FROM organisations o, unnest(ARRAY['production', 'staging', 'development']) AS built_in;
SELECT set_config('app.scope', '', true);
