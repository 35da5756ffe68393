-- phase: expand
-- Who signs out here can sign out at the identity provider too, which asks for the ID token of the session.

ALTER TABLE sessions ADD COLUMN provider_token bytea;
COMMENT ON COLUMN sessions.provider_token IS 'Sealed: the ID token with which the session began. Null: there was none.';
