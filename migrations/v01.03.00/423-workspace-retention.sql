-- phase: expand
-- A workspace may keep its logs for a shorter time than the installation does.

ALTER TABLE workspaces ADD COLUMN log_retention_days integer CHECK (log_retention_days > 0);
COMMENT ON COLUMN workspaces.log_retention_days IS 'Days after which its logs are deleted, where that is sooner than LOG_RETENTION_DAYS; null: it is not.';
