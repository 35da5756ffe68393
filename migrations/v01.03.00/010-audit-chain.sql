-- phase: expand
-- Rows of the audit trail are chained: each holds a keyed hash over itself and the row before it, per organisation, so that
-- a row that is changed, moved, forged or taken away shows. They also say what was there before and after.

ALTER TABLE audit_logs
  ALTER COLUMN actor_id DROP NOT NULL,
  ADD COLUMN actor_name text,
  ADD COLUMN user_id uuid,
  ADD COLUMN query jsonb,
  ADD COLUMN before jsonb,
  ADD COLUMN after jsonb,
  ADD COLUMN related jsonb,
  ADD COLUMN error jsonb,
  ADD COLUMN seq bigint,
  ADD COLUMN hash bytea;
CREATE UNIQUE INDEX audit_logs_seq ON audit_logs (organisation_id, seq);
COMMENT ON COLUMN audit_logs.seq IS 'The place in the chain of the organisation, from 1 and without gaps.';
COMMENT ON COLUMN audit_logs.hash IS 'HMAC-SHA256, under the pepper of the installation, over the hash of the row before and all columns of this one.';
COMMENT ON COLUMN audit_logs.related IS 'Other rows that the same write changed: [{ table, id, before, after }].';

CREATE TABLE audit_heads (
  organisation_id uuid PRIMARY KEY REFERENCES organisations (id),
  seq bigint NOT NULL,
  hash bytea NOT NULL
);
COMMENT ON TABLE audit_heads IS 'The last link of each chain; whoever appends holds its row.';

ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_heads USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of the audit trail are never changed or deleted';
END $$;
CREATE TRIGGER audit_logs_append_only BEFORE UPDATE OR DELETE ON audit_logs FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
