-- phase: expand
-- The exchange of which another one is a copy, whether it counts for the budgets of its caller, and the config that it began with.

ALTER TABLE logs
  ADD COLUMN mirror_of uuid,
  ADD COLUMN billed boolean NOT NULL DEFAULT true,
  ADD COLUMN config_slug text,
  ADD COLUMN config_version integer;
