-- phase: expand
-- Who a user is to an issuer of tokens. An e-mail address can be given to another person; an issuer and its subject cannot.

CREATE TABLE user_identities (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  user_id uuid NOT NULL REFERENCES users (id),
  issuer varchar(320) NOT NULL,
  subject varchar(320) NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, issuer)
);
CREATE INDEX user_identities_subject ON user_identities (organisation_id, issuer, subject);
COMMENT ON TABLE user_identities IS 'Written when a token first names the user by e-mail address; taken away by an admin.';

ALTER TABLE user_identities ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON user_identities USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE TRIGGER user_identities_changes AFTER DELETE ON user_identities FOR EACH ROW EXECUTE FUNCTION record_member_change();
