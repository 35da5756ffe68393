-- phase: expand
-- Mails wait here in the transaction of what they tell, and go when the mail server takes them: none is lost, none tells what never was.

CREATE TABLE outgoing_mails (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  recipient varchar(320) NOT NULL,
  template text NOT NULL,
  variables bytea NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outgoing_mails_due ON outgoing_mails (next_attempt_at);
COMMENT ON COLUMN outgoing_mails.variables IS 'What the template is filled with, sealed: links hold secrets.';

ALTER TABLE outgoing_mails ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON outgoing_mails USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
