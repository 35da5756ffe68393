-- phase: expand
-- What people set for themselves, such as the theme of the console, follows them from browser to browser.

CREATE TABLE user_preferences (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  preferences jsonb NOT NULL,
  last_updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE user_preferences ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON user_preferences USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
