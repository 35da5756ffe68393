-- phase: expand
-- A person whose identity only tokens have shown opens no session by it, and keeps the password. What wrote the rows that there are is not known; they
-- count as those of an identity provider.

ALTER TABLE user_identities ADD COLUMN by_token boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN user_identities.by_token IS 'True as long as only tokens have shown it: nobody signs in by it.';
