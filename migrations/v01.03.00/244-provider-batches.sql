-- phase: expand
-- A provider charges for a batch when it has ended. Each waits here from the log of the request that began it until its cost is known.

CREATE TABLE provider_batches (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  workspace_id uuid,
  provider text NOT NULL,
  provider_slug text NOT NULL,
  batch_id text NOT NULL,
  begun_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'lost')),
  next_look_at timestamptz NOT NULL DEFAULT now(),
  fault text,
  settled_at timestamptz
);
COMMENT ON COLUMN provider_batches.id IS 'The log of the request that began it, which gets its cost as an adjustment.';
COMMENT ON COLUMN provider_batches.provider_slug IS 'The stored provider by which it is asked for.';
COMMENT ON COLUMN provider_batches.state IS 'lost: its cost could not be told within ten days.';
COMMENT ON COLUMN provider_batches.fault IS 'What the last look failed by.';
CREATE UNIQUE INDEX provider_batches_once ON provider_batches (organisation_id, coalesce(workspace_id, organisation_id), provider_slug, batch_id);
CREATE INDEX provider_batches_due ON provider_batches (next_look_at) WHERE state = 'open';

ALTER TABLE provider_batches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON provider_batches USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
