-- phase: expand
-- Limits by condition: what they apply to is data of theirs, so that one policy holds for requests of many keys and models.

CREATE TABLE rate_limit_policies (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name varchar(255),
  conditions jsonb NOT NULL,
  group_by jsonb NOT NULL,
  type text NOT NULL CHECK (type IN ('requests', 'tokens')),
  unit text NOT NULL CHECK (unit IN ('rpm', 'rph', 'rpd')),
  value bigint NOT NULL CHECK (value >= 0),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX rate_limit_policies_workspace ON rate_limit_policies (workspace_id, created_at);

CREATE TABLE usage_limit_policies (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name varchar(255),
  conditions jsonb NOT NULL,
  group_by jsonb NOT NULL,
  type text NOT NULL CHECK (type IN ('cost', 'tokens')),
  credit_limit numeric(20, 9) NOT NULL CHECK (credit_limit >= 0),
  alert_threshold numeric(20, 9) CHECK (alert_threshold >= 0),
  periodic_reset text CHECK (periodic_reset IN ('weekly', 'monthly')),
  periodic_reset_days integer CHECK (periodic_reset_days BETWEEN 1 AND 365),
  next_usage_reset_at timestamptz,
  last_reset_at timestamptz,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (periodic_reset IS NULL OR periodic_reset_days IS NULL)
);
CREATE INDEX usage_limit_policies_workspace ON usage_limit_policies (workspace_id, created_at);
COMMENT ON COLUMN usage_limit_policies.credit_limit IS 'US dollars, to the billionth, or tokens.';

-- What a usage policy counts: one row for each combination of the values it groups by.
CREATE TABLE usage_limit_policy_entities (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  policy_id uuid NOT NULL REFERENCES usage_limit_policies (id),
  value_key text NOT NULL,
  current_usage numeric(20, 9) NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted')),
  is_threshold_alerts_sent boolean NOT NULL DEFAULT false,
  is_exhausted_alerts_sent boolean NOT NULL DEFAULT false,
  last_reset_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (policy_id, value_key)
);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['rate_limit_policies', 'usage_limit_policies', 'usage_limit_policy_entities'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION record_change()', business || '_changes', business);
  END LOOP;
END $$;
