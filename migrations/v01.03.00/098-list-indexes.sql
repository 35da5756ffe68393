-- phase: expand
-- Lists are read in the order of their rows' creation, page by page behind a row: so each has an index that has this order.

CREATE INDEX integrations_list ON integrations (organisation_id, created_at, id) WHERE status = 'active';
CREATE INDEX providers_list ON providers (workspace_id, created_at, id) WHERE status <> 'archived';
CREATE INDEX users_list ON users (organisation_id, created_at, id) WHERE status = 'active';
CREATE INDEX workspace_members_list ON workspace_members (workspace_id, created_at, id);
CREATE INDEX invites_list ON invites (organisation_id, created_at, id);
