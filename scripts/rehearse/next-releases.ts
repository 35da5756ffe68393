import type { NextRelease } from './build.ts'

/**
 * Two releases after this one that exist only here. The product's own backfill and contract migration are about small tables; the first of these adds
 * to the busiest tables in every way that expand supports, and fills its additions; the second removes columns that the first one still wrote.
 */
export const nextReleases: readonly NextRelease[] = [
  {
    version: '1.13.0',
    migrations: {
      'v01.13.00/001-tiers': `-- phase: expand
-- Columns with and without a default on tables that every request reads or writes.
ALTER TABLE api_keys ADD COLUMN tier text NOT NULL DEFAULT 'standard';
ALTER TABLE api_keys ADD COLUMN tier_note text;
ALTER TABLE integrations ADD COLUMN tier text;
ALTER TABLE providers ADD COLUMN tier text;
ALTER TABLE logs ADD COLUMN tier text;
ALTER TABLE labels ADD COLUMN tier text NOT NULL DEFAULT 'standard';
CREATE TABLE tiers (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  name text NOT NULL
);
ALTER TABLE tiers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tiers USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
INSERT INTO tiers (id, organisation_id, name) SELECT gen_random_uuid(), id, 'standard' FROM organisations;
`,
      'v01.13.00/002-tier-indexes': `-- phase: expand
-- transactional: false
-- Built beside the traffic.
CREATE INDEX CONCURRENTLY IF NOT EXISTS api_keys_tier ON api_keys (tier);
CREATE INDEX CONCURRENTLY IF NOT EXISTS labels_tier ON labels (organisation_id, tier);
`,
      'v01.13.00/003-tier-check': `-- phase: expand
-- Of new rows at once, of old ones without a lock that stops writers.
ALTER TABLE integrations ADD CONSTRAINT integrations_tier CHECK (tier IN ('standard', 'premium')) NOT VALID;
ALTER TABLE integrations VALIDATE CONSTRAINT integrations_tier;
`,
      'v01.13.00/004-fill-tiers': `-- phase: backfill
-- Integrations from before get the tier that is meant when there is none.
WITH batch AS (
  SELECT id FROM integrations WHERE ($1::text IS NULL OR id > $1::uuid) ORDER BY id LIMIT $2
), filled AS (
  UPDATE integrations SET tier = coalesce(tier, 'standard') WHERE id IN (SELECT id FROM batch)
)
SELECT (SELECT id::text FROM batch ORDER BY id DESC LIMIT 1) AS cursor, count(*) AS processed FROM batch;
`,
    },
    recorded: [
      { id: 'v01.13.00/001-tiers', phase: 'expand' },
      { id: 'v01.13.00/002-tier-indexes', phase: 'expand' },
      { id: 'v01.13.00/003-tier-check', phase: 'expand' },
      { id: 'v01.13.00/004-fill-tiers', phase: 'backfill' },
    ],
  },
  {
    version: '1.14.0',
    migrations: {
      'v01.14.00/001-drop-tier-notes': `-- phase: contract
-- Nobody has written it since 1.13.0.
ALTER TABLE api_keys DROP COLUMN tier_note;
`,
    },
    recorded: [{ id: 'v01.14.00/001-drop-tier-notes', phase: 'contract', needs: ['v01.13.00/004-fill-tiers'], minApp: '1.14.0' }],
  },
]
