-- phase: expand
-- Responses of `POST /v1/responses` that Gatehouse keeps for providers that keep none, sealed. A job deletes those whose time is over.

CREATE TABLE stored_responses (
  organisation_id uuid NOT NULL,
  id text NOT NULL,
  workspace_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  response bytea NOT NULL,
  PRIMARY KEY (organisation_id, id)
);
CREATE INDEX stored_responses_expiry ON stored_responses (expires_at);
COMMENT ON COLUMN stored_responses.response IS 'The response and the items that it answers, sealed with the log key for this organisation, workspace and id.';

ALTER TABLE stored_responses ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON stored_responses USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
