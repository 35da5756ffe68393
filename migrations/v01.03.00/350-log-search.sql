-- phase: expand
-- Few logs among many are found by any of their facts. Row-level security keeps PostgreSQL from using an inverted index for a condition of the
-- caller, because no operator of such an index is leakproof. So the condition is in a policy of the partition itself, which is for whoever
-- reads the partition and not its parent: it shows the own organisation's logs that have what the settings app.log_* ask for, and no others.

ALTER TABLE logs ADD COLUMN guardrail text, ADD COLUMN attempts_made integer;
COMMENT ON COLUMN logs.guardrail IS 'The worst verdict of the guardrails that ran; null: none did.';
COMMENT ON COLUMN logs.attempts_made IS 'How many attempts were made; null: one.';

-- A hash for each pair of metadata, whose values are texts: the canonical text of the whole is cut between them.
CREATE FUNCTION log_metadata_terms(metadata jsonb) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  pair text;
  terms bigint[] := '{}';
BEGIN
  IF metadata <> '{}' THEN
    FOREACH pair IN ARRAY string_to_array(substr(metadata::text, 3, length(metadata::text) - 4), '", "') LOOP
      terms := terms || hashtextextended(pair, 22);
    END LOOP;
  END IF;
  RETURN terms;
END $$;

-- The terms of a log: a hash for each of its facts, and for each of its numbers a step, of which 24 are a factor of e; a number that is none, as
-- a damaged record may hold, has the last step. Terms find candidates: whoever asks compares the columns too. They must be as
-- src/features/logs/log-terms.ts asks for them.
CREATE FUNCTION log_terms(organisation_id uuid, workspace_id uuid, api_key_id uuid, user_id uuid, provider text, provider_slug text, model text,
  config_slug text, prompt_slug text, operation text, status integer, outcome text, error_code text, cache_status text, guardrail text, stream boolean,
  cost double precision, total_tokens double precision, input_tokens double precision, output_tokens double precision, duration double precision)
RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(ARRAY[uuid_hash_extended(organisation_id, 1), uuid_hash_extended(workspace_id, 2), uuid_hash_extended(api_key_id, 3),
    uuid_hash_extended(user_id, 4), hashtextextended(provider, 5), hashtextextended(provider_slug, 6), hashtextextended(model, 7),
    hashtextextended(config_slug, 8), hashtextextended(prompt_slug, 9), hashtextextended(operation, 10), hashtextextended(outcome, 11),
    hashtextextended(error_code, 12), hashtextextended(cache_status, 13), hashtextextended(guardrail, 14), (15::bigint << 32) + status,
    (16::bigint << 32) + stream::int, (17::bigint << 32) + (24 * ln(least(greatest(cost, 1), 1e300)))::int, (18::bigint << 32) + (24 * ln(least(greatest(total_tokens, 1), 1e300)))::int,
    (19::bigint << 32) + (24 * ln(least(greatest(input_tokens, 1), 1e300)))::int, (20::bigint << 32) + (24 * ln(least(greatest(output_tokens, 1), 1e300)))::int,
    (21::bigint << 32) + (24 * ln(least(greatest(duration, 1), 1e300)))::int, (23::bigint << 32) + (status < 400 AND outcome = 'complete')::int], NULL)
$$;

-- Unset, a setting is null, and a partition shows nothing.
CREATE FUNCTION app_log_terms(name text) RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT nullif(current_setting('app.log_' || name, true), '')::bigint[]
$$;

CREATE FUNCTION open_log_partition(partition text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  terms text := '(log_terms(organisation_id, workspace_id, api_key_id, user_id, provider, provider_slug, model, config_slug, prompt_slug, operation, status, '
    'outcome, error_code, cache_status, guardrail, stream, cost_pico::float8, total_tokens::float8, input_tokens::float8, output_tokens::float8, duration_ms::float8) || log_metadata_terms(metadata))';
BEGIN
  EXECUTE format('CREATE POLICY search ON %I FOR SELECT USING (%2$s @> app_log_terms(''all'') AND %2$s && app_log_terms(''any_1'') AND %2$s && app_log_terms(''any_2'')
    AND %2$s && app_log_terms(''any_3'') AND (organisation_id = app_organisation() OR app_is_system()))', partition, terms);
END $$;

CREATE OR REPLACE FUNCTION ensure_log_partitions(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
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
        IF parent = 'logs' THEN
          PERFORM open_log_partition(partition);
        END IF;
      END IF;
    END IF;
  END LOOP;
END $$;

SELECT open_log_partition(c.relname) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'logs'::regclass ORDER BY c.relname;
