-- phase: expand
-- Batches whose lines Gatehouse runs itself. A line is claimed under a lease, and its result is written only by the process that holds it, so that each
-- line has one result, whichever process dies. Lines are deleted when their results stand in the files of the batch.

CREATE TABLE batches (
  id text PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  workspace_id uuid,
  api_key_id uuid NOT NULL,
  user_id uuid,
  state text NOT NULL DEFAULT 'validating'
    CHECK (state IN ('validating', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled')),
  endpoint text NOT NULL,
  input_file_id text NOT NULL,
  completion_window text NOT NULL,
  options bytea NOT NULL,
  client_address text NOT NULL,
  output_seconds integer NOT NULL,
  total integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  result_bytes bigint NOT NULL DEFAULT 0,
  output_file_id text,
  error_file_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  in_progress_at timestamptz,
  expires_at timestamptz NOT NULL,
  finalizing_at timestamptz,
  completed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  outcome text,
  ended_by uuid,
  ended_by_until timestamptz,
  claimed_at timestamptz
);
COMMENT ON COLUMN batches.api_key_id IS 'The key that made it, with whose rights its lines run.';
COMMENT ON COLUMN batches.options IS 'The metadata, and the headers that every line is sent with, sealed with the log key for this organisation and id.';
COMMENT ON COLUMN batches.output_seconds IS 'How long its output and error file live.';
COMMENT ON COLUMN batches.result_bytes IS 'What the results of its lines take until they stand in its files.';
COMMENT ON COLUMN batches.outcome IS 'The state that it will have when its files are written.';
COMMENT ON COLUMN batches.ended_by IS 'The process that writes its files, until its claim is over.';
COMMENT ON COLUMN batches.claimed_at IS 'When a process last began to write its files: organisations take turns by it.';
CREATE INDEX batches_listed ON batches (organisation_id, workspace_id, created_at DESC, id DESC);
CREATE INDEX batches_open ON batches (created_at) WHERE state IN ('validating', 'in_progress', 'cancelling', 'finalizing');
CREATE INDEX batches_claimed ON batches (organisation_id, claimed_at);
CREATE INDEX batches_input ON batches (input_file_id);

CREATE TABLE batch_lines (
  batch_id text NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  line integer NOT NULL,
  organisation_id uuid NOT NULL,
  starts_at bigint NOT NULL,
  bytes integer NOT NULL,
  custom_id bytea NOT NULL,
  custom_hash bytea NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done')),
  runner uuid,
  free_at timestamptz NOT NULL DEFAULT '-infinity',
  attempts smallint NOT NULL DEFAULT 0,
  failures smallint NOT NULL DEFAULT 0,
  begun_ms bigint,
  failed boolean,
  result bytea,
  PRIMARY KEY (batch_id, line)
) WITH (fillfactor = 80);
COMMENT ON COLUMN batch_lines.starts_at IS 'The place of the line in the input file.';
COMMENT ON COLUMN batch_lines.custom_id IS 'Sealed with the log key for this organisation, batch and line, so that a line that never ran is reported without reading its file.';
COMMENT ON COLUMN batch_lines.free_at IS 'From then on a process may claim it: when a lease is over, or the wait before the next try.';
COMMENT ON COLUMN batch_lines.runner IS 'The process that holds the line; it alone may write the result.';
COMMENT ON COLUMN batch_lines.begun_ms IS 'When the log of the line begins: kept when a process dies, so that the line has one log and one settlement.';
COMMENT ON COLUMN batch_lines.failures IS 'How many requests of the line failed in a way that may pass; each has a log of its own.';
COMMENT ON COLUMN batch_lines.result IS 'The line of the output or error file, sealed with the log key for this organisation, batch and line.';
ALTER TABLE batch_lines ALTER COLUMN result SET STORAGE EXTERNAL;
CREATE INDEX batch_lines_free ON batch_lines (batch_id, free_at, line) WHERE state <> 'done';
CREATE INDEX batch_lines_running ON batch_lines (batch_id, free_at) WHERE state = 'running';

ALTER TABLE batches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON batches USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
ALTER TABLE batch_lines ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON batch_lines USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
