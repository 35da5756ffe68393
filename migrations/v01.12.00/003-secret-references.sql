-- phase: expand
-- Secrets that stay in external managers: where each is and how one signs in there, sealed; and what came of asking for it last, in a
-- table of its own, so that asking makes no view stale. Integrations say which fields of their credential are such secrets.

CREATE TABLE secret_references (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  description text,
  manager_type text NOT NULL CHECK (manager_type IN ('aws_sm', 'azure_kv', 'hashicorp_vault')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  auth_config bytea,
  secret_path varchar(1024) NOT NULL,
  secret_key varchar(255),
  secret_version varchar(255),
  allow_all_workspaces boolean NOT NULL DEFAULT true,
  allowed_workspaces uuid[] NOT NULL DEFAULT '{}',
  tags jsonb NOT NULL DEFAULT '{}',
  created_by uuid,
  updated_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status = 'archived' OR auth_config IS NOT NULL)
);
CREATE UNIQUE INDEX secret_references_slug ON secret_references (organisation_id, slug) WHERE status = 'active';
CREATE INDEX secret_references_list ON secret_references (organisation_id, created_at DESC, id DESC) WHERE status = 'active';
COMMENT ON COLUMN secret_references.auth_config IS 'How one signs in at the manager, as sealed JSON; additional data binds it to this column and row.';

CREATE TABLE secret_reference_reads (
  reference_id uuid PRIMARY KEY REFERENCES secret_references (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  last_fetched_at timestamptz,
  failing_since timestamptz,
  failed_at timestamptz,
  reason text,
  message text,
  is_stale boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE secret_reference_reads IS 'The last answer of each manager, of whichever process asked last.';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['secret_references', 'secret_reference_reads'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()))', business);
  END LOOP;
END $$;
CREATE TRIGGER secret_references_changes AFTER INSERT OR UPDATE OR DELETE ON secret_references FOR EACH ROW EXECUTE FUNCTION record_change();

ALTER TABLE integrations ADD COLUMN secret_mappings jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN integrations.secret_mappings IS 'Fields of the credential whose values are secrets of external managers.';
CREATE INDEX integrations_secret_mappings ON integrations USING gin (secret_mappings jsonb_path_ops) WHERE status = 'active';
