-- phase: expand
-- Credentials live in integrations; a workspace uses them through providers (`@slug`). A virtual key is a provider with an
-- integration of its own, so that the gateway resolves both in one way.

CREATE TABLE integrations (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid REFERENCES workspaces (id),
  kind text NOT NULL DEFAULT 'integration' CHECK (kind IN ('integration', 'virtual-key')),
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  description text,
  ai_provider_id text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  credential bytea,
  masked_key text,
  configurations jsonb NOT NULL DEFAULT '{}',
  secret_configurations bytea,
  allow_all_models boolean NOT NULL DEFAULT true,
  global_workspace_access jsonb,
  pricing_adjustments jsonb,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX integrations_slug ON integrations (organisation_id, slug) WHERE status <> 'archived';
COMMENT ON COLUMN integrations.kind IS 'A virtual key owns its integration: it is reached through the virtual key only.';
COMMENT ON COLUMN integrations.credential IS 'The provider key, sealed; additional data binds it to this column and row.';
COMMENT ON COLUMN integrations.secret_configurations IS 'The secret fields of configurations as sealed JSON.';

CREATE TABLE providers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  integration_id uuid NOT NULL REFERENCES integrations (id),
  kind text NOT NULL DEFAULT 'provider' CHECK (kind IN ('provider', 'virtual-key')),
  is_default boolean NOT NULL DEFAULT false,
  slug varchar(255) NOT NULL,
  name varchar(255) NOT NULL,
  note text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted', 'expired', 'archived')),
  usage_limits jsonb,
  rate_limits jsonb,
  expires_at timestamptz,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX providers_slug ON providers (workspace_id, slug) WHERE status <> 'archived';
COMMENT ON COLUMN providers.is_default IS 'Made together with its integration, and archived with it.';
CREATE INDEX providers_integration ON providers (integration_id);
