-- phase: expand
-- Spans that clients send by OTLP, beside the logs of the same traces. A span that comes twice is stored once. A job deletes those whose time is over.

CREATE TABLE trace_spans (
  organisation_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  parent_span_id text,
  api_key_id uuid NOT NULL,
  user_id uuid,
  received_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL,
  duration_ms double precision NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  service text,
  provider text,
  model text,
  input_tokens bigint,
  output_tokens bigint,
  is_sealed boolean NOT NULL,
  details bytea NOT NULL,
  PRIMARY KEY (organisation_id, workspace_id, trace_id, span_id)
);
CREATE INDEX trace_spans_latest ON trace_spans (organisation_id, workspace_id, created_at DESC, span_id DESC);
CREATE INDEX trace_spans_received ON trace_spans (received_at);
COMMENT ON COLUMN trace_spans.created_at IS 'The start of the span.';
COMMENT ON COLUMN trace_spans.details IS 'Attributes, events and links as JSON, sealed with the log key where logs are.';

ALTER TABLE trace_spans ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON trace_spans USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
