-- phase: expand
-- One row per exchange in daily partitions, bodies apart, so that lists stay small and retention is a DROP. The journal's
-- cursor moves in the same transaction as the rows, so that a replay after a crash doubles nothing.

CREATE TABLE logs (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  workspace_id uuid,
  created_at timestamptz NOT NULL,
  api_key_id uuid NOT NULL,
  user_id uuid,
  client_ip text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  operation text NOT NULL,
  provider text,
  provider_slug text,
  model text,
  status integer NOT NULL,
  outcome text NOT NULL,
  error_code text,
  stream boolean NOT NULL,
  duration_ms real NOT NULL,
  upstream_ms real,
  first_byte_ms real,
  input_tokens bigint,
  output_tokens bigint,
  total_tokens bigint,
  usage jsonb,
  usage_source text NOT NULL,
  cost_nano_usd bigint,
  retry_count integer NOT NULL,
  cache_status text NOT NULL,
  last_used_option text,
  trace_id text NOT NULL,
  span_id text,
  parent_span_id text,
  span_name text,
  metadata jsonb NOT NULL DEFAULT '{}',
  request_bytes bigint NOT NULL,
  response_bytes bigint NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);
CREATE INDEX logs_workspace ON logs (organisation_id, workspace_id, created_at DESC, id DESC);

CREATE TABLE log_bodies (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  upstream_url text,
  request_headers jsonb NOT NULL,
  response_headers jsonb NOT NULL,
  request_body bytea,
  response_body bytea,
  request_truncated boolean NOT NULL,
  response_truncated boolean NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);

CREATE TABLE journal_cursors (
  node text NOT NULL,
  segment text NOT NULL,
  shipped_bytes bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (node, segment)
);

-- Partitions are made by their owner, whoever asks; a partition has row-level security and no policy, so that it is
-- reached through its parent only.
CREATE FUNCTION ensure_log_partitions(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  parent text;
  partition text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['logs', 'log_bodies'] LOOP
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:partition:' || partition, 0));
      IF to_regclass(partition) IS NULL THEN
        -- Rows up to a page stay in the row and are not compressed, which halves the CPU of an insert; larger bodies are compressed.
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (toast_tuple_target = 8160)', partition, parent,
          day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
      END IF;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION drop_log_partitions(older_than date) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition record;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('logs'::regclass, 'log_bodies'::regclass)
      AND to_date(right(c.relname, 8), 'YYYYMMDD') < older_than
  LOOP
    EXECUTE format('DROP TABLE %s', partition.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
