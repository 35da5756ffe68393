-- phase: expand
-- What callers think of an answer, by its trace, and the filters that somebody wants to use again.

CREATE TABLE feedbacks (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  trace_id text NOT NULL,
  value integer NOT NULL CHECK (value BETWEEN -10 AND 10),
  weight double precision NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0 AND 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  api_key_id uuid,
  user_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX feedbacks_trace ON feedbacks (workspace_id, trace_id);
CREATE INDEX feedbacks_created ON feedbacks (workspace_id, created_at);

CREATE TABLE saved_filters (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  type text NOT NULL CHECK (type IN ('logs', 'analytics')),
  filters jsonb NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX saved_filters_slug ON saved_filters (organisation_id, slug) WHERE status <> 'archived';
CREATE INDEX saved_filters_workspace ON saved_filters (workspace_id, created_at);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['feedbacks', 'saved_filters'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
