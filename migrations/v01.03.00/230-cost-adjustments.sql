-- phase: expand
-- Costs that were worked out again, beside the first figure and never over it: what a request costs is its own figure and all adjustments.

CREATE TABLE cost_adjustments (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  workspace_id uuid,
  recompute_id uuid NOT NULL,
  log_id uuid NOT NULL,
  log_created_at timestamptz NOT NULL,
  api_key_id uuid,
  provider_slug text,
  delta_pico numeric(30, 0) NOT NULL,
  cost_pico numeric(30, 0) NOT NULL,
  cost_state text NOT NULL,
  price_catalogue text,
  lines jsonb NOT NULL,
  reason text,
  made_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (log_id, recompute_id)
);
COMMENT ON COLUMN cost_adjustments.delta_pico IS 'Pico-US-dollars to add to what the log cost before.';
COMMENT ON COLUMN cost_adjustments.cost_pico IS 'What the log costs with this adjustment.';
COMMENT ON COLUMN cost_adjustments.log_created_at IS 'The time of the request, by which budgets find the period that the amount belongs to.';
CREATE INDEX cost_adjustments_time ON cost_adjustments (organisation_id, log_created_at);

ALTER TABLE cost_adjustments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON cost_adjustments USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
