-- phase: expand
-- A saved filter is a view with columns and an order, and a person may keep one to themselves.

ALTER TABLE saved_filters
  ADD COLUMN columns jsonb,
  ADD COLUMN sort text,
  ADD COLUMN visibility text NOT NULL DEFAULT 'workspace' CHECK (visibility IN ('workspace', 'private')),
  ADD COLUMN owner_id uuid REFERENCES users (id);
COMMENT ON COLUMN saved_filters.owner_id IS 'The person who made it. Null: a service key did.';
