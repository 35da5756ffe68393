-- phase: expand
-- Exports of logs. The file of one is made part by part, so that a killed process loses no more than a part, and every process can send it.

CREATE TABLE log_exports (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  workspace_id uuid REFERENCES workspaces (id) ON DELETE CASCADE,
  description varchar(255) NOT NULL,
  kind text NOT NULL CHECK (kind IN ('logs', 'focus')),
  format text NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet')),
  filters jsonb NOT NULL,
  fields jsonb NOT NULL,
  options jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'in_progress', 'success', 'failed', 'stopped')),
  error text,
  own_api_key_id uuid,
  own_user_id uuid,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz,
  progress jsonb,
  parts integer NOT NULL DEFAULT 0,
  row_count bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  worked_at timestamptz,
  lease_token uuid,
  lease_until timestamptz
);
CREATE INDEX log_exports_list ON log_exports (organisation_id, workspace_id, created_at DESC, id DESC);
CREATE INDEX log_exports_due ON log_exports (worked_at) WHERE status = 'in_progress';
COMMENT ON COLUMN log_exports.workspace_id IS 'Null: the logs of all workspaces.';
COMMENT ON COLUMN log_exports.own_api_key_id IS 'With own_user_id: whose logs alone it has, because who started it sees only these; null: those of everybody.';
COMMENT ON COLUMN log_exports.progress IS 'How far the parts reach that are there.';
COMMENT ON COLUMN log_exports.lease_token IS 'Who makes the next part, until lease_until.';

CREATE TABLE log_export_parts (
  organisation_id uuid NOT NULL,
  export_id uuid NOT NULL REFERENCES log_exports (id) ON DELETE CASCADE,
  part integer NOT NULL,
  bytes integer NOT NULL,
  note jsonb,
  is_sealed boolean NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (export_id, part)
);
ALTER TABLE log_export_parts ALTER COLUMN content SET STORAGE EXTERNAL;
COMMENT ON COLUMN log_export_parts.bytes IS 'How many bytes of the file it is.';
COMMENT ON COLUMN log_export_parts.note IS 'What the end of the file says about this part.';
COMMENT ON COLUMN log_export_parts.content IS 'The bytes, compressed by gzip, and sealed with the log key where logs are.';

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['log_exports', 'log_export_parts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
END $$;
