-- phase: expand
-- Identity providers look for each person by their name, in any case. A condition with lower() is no way to an index for whoever is held by
-- row-level security, since that function is not leakproof; equality is. So the name in lower case is a column.

ALTER TABLE scim_users ADD COLUMN user_name_lower text NOT NULL GENERATED ALWAYS AS (lower(user_name)) STORED;
CREATE INDEX scim_users_user_name_lower ON scim_users (organisation_id, user_name_lower);
COMMENT ON COLUMN scim_users.user_name_lower IS 'The name in lower case: by it a person is found.';
