-- phase: expand
-- A kept response has an owner: the key that it answered, and that key's person. Others of the workspace read it only where they may read its log.
-- Rows of earlier releases have none; their owner is found by their log when they are asked for.

ALTER TABLE stored_responses ADD COLUMN api_key_id uuid, ADD COLUMN user_id uuid;
COMMENT ON COLUMN stored_responses.api_key_id IS 'The key that the response answered; null: an earlier release kept it.';
