-- phase: expand
-- What became of mails that tell of something: of an alert. Other mails leave nothing behind.

ALTER TABLE outgoing_mails ADD COLUMN about uuid;
CREATE INDEX outgoing_mails_about ON outgoing_mails (about) WHERE about IS NOT NULL;

CREATE TABLE mail_outcomes (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  about uuid NOT NULL,
  recipient varchar(320) NOT NULL,
  is_sent boolean NOT NULL,
  attempts integer NOT NULL,
  last_error text,
  ended_at timestamptz NOT NULL
);
CREATE INDEX mail_outcomes_about ON mail_outcomes (about);
CREATE INDEX mail_outcomes_ended ON mail_outcomes (ended_at);

ALTER TABLE mail_outcomes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mail_outcomes USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
