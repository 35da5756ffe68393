-- phase: expand
-- When a key got the secret that it has, so that an organisation can ask that its users' keys are rotated now and then.

ALTER TABLE api_keys ADD COLUMN rotated_at timestamptz;
COMMENT ON COLUMN api_keys.rotated_at IS 'When the key was rotated last; null: never.';
