-- phase: expand
-- The trail is read through the API: rows also hold the headers and the country of the request, and are found by request and resource.

ALTER TABLE audit_logs
  ADD COLUMN request_headers jsonb,
  ADD COLUMN country text;
COMMENT ON COLUMN audit_logs.country IS 'Two letters, as a trusted proxy tells; null when none does.';
CREATE INDEX audit_logs_request ON audit_logs (organisation_id, request_id);
CREATE INDEX audit_logs_resource ON audit_logs (organisation_id, resource_id, at) WHERE resource_id IS NOT NULL;
