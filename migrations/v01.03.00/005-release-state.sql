-- phase: expand
-- What is installed is told by the database itself: a rolled-back deployment brings back an older image, and must not bring back
-- an older idea of what the data is.

CREATE TABLE release_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  level text NOT NULL,
  schema_head text NOT NULL,
  min_app_version text NOT NULL,
  encryption_key_fp text,
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN release_state.level IS 'The release that is finalized: what later releases bring stays off until then.';
COMMENT ON COLUMN release_state.schema_head IS 'The last of the applied migrations.';
COMMENT ON COLUMN release_state.min_app_version IS 'Older releases do not start on this database.';
COMMENT ON COLUMN release_state.encryption_key_fp IS 'Names the key that the database was sealed with, without telling anything about it.';

CREATE TABLE release_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('install', 'migrate', 'finalize')),
  from_release text,
  to_release text NOT NULL,
  migrations text[] NOT NULL DEFAULT '{}',
  image text,
  chart text,
  performed_by text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'done', 'failed')),
  error text,
  started_at timestamptz NOT NULL,
  finished_at timestamptz
);

CREATE TABLE backfill_state (
  id text PRIMARY KEY,
  cursor text,
  rate integer NOT NULL DEFAULT 5000 CHECK (rate > 0),
  paused boolean NOT NULL DEFAULT false,
  done boolean NOT NULL DEFAULT false,
  processed bigint NOT NULL DEFAULT 0,
  error text,
  started_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN backfill_state.cursor IS 'Where the next batch begins; it moves in the transaction that writes the batch.';
COMMENT ON COLUMN backfill_state.rate IS 'The most rows a second.';
