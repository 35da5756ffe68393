-- phase: expand
-- Logs whose bodies a log store shall get. A row is there from the insert of its log until the store has the object; the database keeps the
-- bodies as long.

CREATE TABLE log_uploads (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  workspace_id uuid,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  PRIMARY KEY (created_at, id)
);
COMMENT ON COLUMN log_uploads.due_at IS 'When it may be claimed: at once, after the lease of who claimed it, or after the wait that follows a failure.';
CREATE INDEX log_uploads_due ON log_uploads (due_at);
ALTER TABLE log_uploads SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

ALTER TABLE log_uploads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON log_uploads USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());

ALTER TABLE log_bodies ADD COLUMN object_key text;
COMMENT ON COLUMN log_bodies.object_key IS 'The object of the log store that holds headers, bodies and guardrail results; null: this row does.';
