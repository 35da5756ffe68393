-- phase: expand
-- Files of `POST /v1/files` that Gatehouse keeps itself, sealed and in pieces, so that a process never holds one as a whole. A job deletes those whose
-- time is over.

CREATE TABLE files (
  id text PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  workspace_id uuid,
  api_key_id uuid NOT NULL,
  user_id uuid,
  name bytea NOT NULL,
  purpose text NOT NULL,
  bytes bigint NOT NULL DEFAULT 0,
  batch_id text,
  state text NOT NULL DEFAULT 'uploading' CHECK (state IN ('uploading', 'ready')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
COMMENT ON COLUMN files.id IS 'It names its tenant by a mark, and ends in random digits.';
COMMENT ON COLUMN files.api_key_id IS 'The key that made it; others read it only where they may read its logs.';
COMMENT ON COLUMN files.name IS 'Sealed with the log key for this organisation, workspace and id.';
COMMENT ON COLUMN files.batch_id IS 'The batch whose results it has; null: it was uploaded.';
COMMENT ON COLUMN files.state IS 'uploading: its bytes are still coming, and nobody sees it.';
CREATE INDEX files_listed ON files (organisation_id, workspace_id, created_at DESC, id DESC);
CREATE INDEX files_batch ON files (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX files_expiry ON files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX files_uploading ON files (created_at) WHERE state = 'uploading';

CREATE TABLE file_pieces (
  file_id text NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  piece integer NOT NULL,
  organisation_id uuid NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (file_id, piece)
);
COMMENT ON COLUMN file_pieces.piece IS 'From 0; all but the last have 256 KiB.';
ALTER TABLE file_pieces ALTER COLUMN sealed SET STORAGE EXTERNAL;

ALTER TABLE files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON files USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
ALTER TABLE file_pieces ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON file_pieces USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
