-- phase: expand
-- What stands for a workspace in lists, such as an emoji, apart from its name: clients that keep both would else see one change the other.

ALTER TABLE workspaces ADD COLUMN icon varchar(64);
COMMENT ON COLUMN workspaces.icon IS 'Null: none.';
