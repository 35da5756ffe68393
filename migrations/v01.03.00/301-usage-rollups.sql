-- phase: expand
-- What the logs of an hour and of a day amount to, by their traits. A trigger counts each log in the transaction that inserts it, whichever
-- process and release ships it: roll-ups hold neither more nor less than `logs`, and stay when the logs of a day are dropped.

ALTER TABLE logs
  ADD COLUMN options_tried integer,
  ADD COLUMN saved_pico numeric(30, 0);
COMMENT ON COLUMN logs.options_tried IS 'How many targets of its config a request tried; null: one.';
COMMENT ON COLUMN logs.saved_pico IS 'Pico-US-dollars that an answer from the cache saved.';

-- Logs that were there before are counted afterwards, from the youngest to the oldest; until then they are read from `logs`.
CREATE TABLE usage_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  complete_from timestamptz NOT NULL
);
COMMENT ON COLUMN usage_state.complete_from IS 'The roll-ups hold every log from then on, and no other.';
INSERT INTO usage_state (complete_from)
  SELECT CASE WHEN EXISTS (SELECT FROM logs) THEN date_trunc('day', now(), 'UTC') + interval '1 day' ELSE '-infinity' END;

-- Returns from when on logs are counted as they come. Until all are counted, whoever asks keeps that time as it is to the end of the transaction.
CREATE FUNCTION usage_complete_from() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  since timestamptz;
BEGIN
  SELECT complete_from INTO since FROM usage_state;
  IF since > '-infinity' THEN
    SELECT complete_from INTO since FROM usage_state FOR SHARE;
  END IF;
  RETURN since;
END $$;

-- A histogram is sparse: the upper half of each element is a bucket, the lower half a count. A bucket can be there more than once.
CREATE FUNCTION latency_bucket(ms double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (floor(ln(least(greatest(ms, 0.01), 1e12)) * 20 / ln(2.0::float8)) + 140)::bigint
$$;
COMMENT ON FUNCTION latency_bucket IS 'Twenty buckets for each doubling, from 0.01 ms to 1e12 ms: the middle of one is at most 1.8 % from all that it holds.';
CREATE FUNCTION merge_counts(counts bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg((cell << 32) + n ORDER BY cell)
    FROM (SELECT e >> 32 AS cell, sum(e & 4294967295)::bigint AS n FROM unnest(counts) e GROUP BY 1) cells
$$;
-- A HyperLogLog register of 12 bits and the rank that a value has in it, the same on every server.
CREATE FUNCTION sketch_cell(value text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ((h & 4095) << 32) + 53 - length(ltrim((h >> 12 & 4503599627370495)::bit(52)::text, '0'))
    FROM (SELECT ('x' || left(md5(value), 16))::bit(64)::bigint AS h) hashed
$$;

-- The latencies of a day that is over, by one trait at a time: merging those of all its keys takes too long to wait for.
CREATE TABLE usage_day_latencies (
  organisation_id uuid NOT NULL,
  bucket timestamptz NOT NULL,
  trait text NOT NULL,
  workspace_id uuid,
  value text,
  latency bigint[] NOT NULL
);
CREATE INDEX usage_day_latencies_trait ON usage_day_latencies (organisation_id, trait, bucket);
CREATE INDEX usage_day_latencies_bucket ON usage_day_latencies (bucket);
COMMENT ON COLUMN usage_day_latencies.trait IS 'A column of usage_days, whose value is in `value`; `all`: none.';
CREATE TABLE usage_settled_days (bucket timestamptz PRIMARY KEY);
COMMENT ON TABLE usage_settled_days IS 'The days whose latencies by trait are there, and say what usage_days says.';

-- A late log takes its day back: until it is settled again, its latencies are read from usage_days.
CREATE FUNCTION unsettle_usage(day timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gatehouse:usage:' || extract(epoch FROM day), 0));
  DELETE FROM usage_settled_days WHERE bucket = day;
END $$;

DO $do$
DECLARE
  traits text[] := ARRAY['workspace_id', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model', 'config_slug', 'prompt_slug', 'status',
    'outcome', 'cache_status', 'retry_count', 'options_tried'];
  sums text[] := ARRAY['requests', 'input_tokens', 'input_known', 'output_tokens', 'output_known', 'total_tokens', 'total_known', 'cost_pico',
    'saved_pico', 'duration_us'];
  -- What one log adds to each of the sums; %s is what it was adjusted by.
  of_log text := '1::bigint AS requests, l.input_tokens, (l.input_tokens IS NOT NULL)::int AS input_known, l.output_tokens, '
    || '(l.output_tokens IS NOT NULL)::int AS output_known, l.total_tokens, (l.total_tokens IS NOT NULL)::int AS total_known, '
    || 'coalesce(l.cost_pico + coalesce(%1$s, 0), %1$s) AS cost_pico, l.saved_pico, round(least(l.duration_ms, 1e12)::numeric * 1000) AS duration_us';
  adjustments text := '(SELECT sum(a.delta_pico) FROM cost_adjustments a WHERE a.log_id = l.id AND a.organisation_id = l.organisation_id)';
  key text := 'md5(ROW(l.' || array_to_string(traits, ', l.') || ')::text)::uuid';
  own text := array_to_string(traits, ', ');
  named text := array_to_string(sums, ', ');
  grain text;
  roll_up text;
  body text := '';
  filling text := '';
BEGIN
  FOREACH grain IN ARRAY ARRAY['hour', 'day'] LOOP
    EXECUTE format($table$
      CREATE TABLE usage_%1$ss (
        organisation_id uuid NOT NULL,
        bucket timestamptz NOT NULL,
        key uuid NOT NULL,
        workspace_id uuid,
        api_key_id uuid NOT NULL,
        user_id uuid,
        provider text,
        provider_slug text,
        model text,
        config_slug text,
        prompt_slug text,
        status integer NOT NULL,
        outcome text NOT NULL,
        cache_status text NOT NULL,
        retry_count integer NOT NULL,
        options_tried integer,
        requests bigint NOT NULL,
        input_tokens numeric NOT NULL,
        input_known bigint NOT NULL,
        output_tokens numeric NOT NULL,
        output_known bigint NOT NULL,
        total_tokens numeric NOT NULL,
        total_known bigint NOT NULL,
        cost_pico numeric NOT NULL,
        saved_pico numeric NOT NULL,
        duration_us numeric NOT NULL,
        first_seen timestamptz NOT NULL,
        last_seen timestamptz NOT NULL,
        latency bigint[] NOT NULL,
        PRIMARY KEY (organisation_id, bucket, key)
      ) WITH (fillfactor = 70);
      COMMENT ON COLUMN usage_%1$ss.bucket IS 'The begin of the %1$s, UTC.';
      COMMENT ON COLUMN usage_%1$ss.key IS 'Stands for all traits together, of which some can be null.';
      COMMENT ON COLUMN usage_%1$ss.cost_pico IS 'Pico-US-dollars, adjustments included.';
      COMMENT ON COLUMN usage_%1$ss.latency IS 'How many requests took how long, by latency_bucket().';
      CREATE TABLE usage_user_%1$ss (
        organisation_id uuid NOT NULL,
        bucket timestamptz NOT NULL,
        workspace_id uuid NOT NULL,
        cell bigint NOT NULL,
        PRIMARY KEY (organisation_id, bucket, workspace_id, cell)
      );
      COMMENT ON TABLE usage_user_%1$ss IS 'HyperLogLogs of the users whom the metadata of requests name, by sketch_cell().';
      COMMENT ON COLUMN usage_user_%1$ss.workspace_id IS 'All zeros: none.';
    $table$, grain);

    roll_up := format($text$
      INSERT INTO usage_%1$ss AS u (organisation_id, bucket, key, %2$s, %3$s, first_seen, last_seen, latency)
      SELECT organisation_id, bucket, key, %2$s, %4$s, min(first_seen), max(last_seen), array_agg((cell << 32) + requests ORDER BY cell)
        FROM (SELECT organisation_id, bucket, key, cell, %2$s, %4$s, min(created_at) AS first_seen, max(created_at) AS last_seen
                FROM (SELECT l.organisation_id, date_trunc(%5$L, l.created_at, 'UTC') AS bucket, %6$s AS key, latency_bucket(l.duration_ms) AS cell,
                             l.created_at, l.%7$s, %%2$s
                        FROM %%1$s l) one
               GROUP BY organisation_id, bucket, key, cell, %2$s) cells
       GROUP BY organisation_id, bucket, key, %2$s
       ORDER BY organisation_id, bucket, key
      ON CONFLICT (organisation_id, bucket, key) DO UPDATE SET (%3$s, first_seen, last_seen, latency) =
        (%8$s, least(u.first_seen, excluded.first_seen), greatest(u.last_seen, excluded.last_seen), CASE WHEN cardinality(u.latency) < 128 THEN u.latency || excluded.latency ELSE merge_counts(u.latency || excluded.latency) END);
      INSERT INTO usage_user_%1$ss (organisation_id, bucket, workspace_id, cell)
      SELECT DISTINCT l.organisation_id, date_trunc(%5$L, l.created_at, 'UTC') AS bucket,
             coalesce(l.workspace_id, '00000000-0000-0000-0000-000000000000') AS workspace_id, sketch_cell(l.metadata ->> '_user') AS cell
        FROM %%1$s l WHERE l.metadata ->> '_user' IS NOT NULL
       ORDER BY 1, 2, 3, 4
      ON CONFLICT DO NOTHING;
    $text$, grain, own, named,
      (SELECT string_agg(format('coalesce(sum(%1$s), 0)%2$s AS %1$s', name, CASE WHEN name IN ('requests', 'input_known', 'output_known', 'total_known') THEN '::bigint' ELSE '' END), ', ' ORDER BY at)
         FROM unnest(sums) WITH ORDINALITY AS listed (name, at)),
      grain, key, array_to_string(traits, ', l.'),
      (SELECT string_agg(format('u.%1$s + excluded.%1$s', name), ', ' ORDER BY at) FROM unnest(sums) WITH ORDINALITY AS listed (name, at)));
    body := body || format(roll_up, '(SELECT * FROM inserted WHERE created_at >= since)', format(of_log, 'NULL::numeric'));
    filling := filling || format(roll_up, '(SELECT * FROM logs WHERE created_at >= since AND created_at < until)', format(of_log, adjustments));
  END LOOP;

  EXECUTE format('CREATE FUNCTION roll_up_logs() RETURNS trigger LANGUAGE plpgsql AS $text$ DECLARE since timestamptz := usage_complete_from(); BEGIN
      PERFORM unsettle_usage(day) FROM (SELECT DISTINCT date_trunc(''day'', created_at, ''UTC'') AS day FROM inserted WHERE created_at >= since) days
        WHERE day < date_trunc(''day'', now(), ''UTC'') ORDER BY day;
      %s RETURN NULL; END $text$', body);
  -- Counts some thousand logs of those that are not counted yet. Returns true if there are more.
  EXECUTE format('CREATE FUNCTION fill_usage(most integer) RETURNS boolean LANGUAGE plpgsql SET work_mem = ''64MB'' AS $text$
    DECLARE
      since timestamptz;
      until timestamptz;
    BEGIN
      SELECT complete_from INTO until FROM usage_state FOR UPDATE;
      IF until = ''-infinity'' THEN
        RETURN false;
      END IF;
      SELECT created_at INTO since FROM logs WHERE created_at < until ORDER BY created_at DESC OFFSET most LIMIT 1;
      since := coalesce(since, ''-infinity'');
      %s
      UPDATE usage_state SET complete_from = since;
      RETURN since > ''-infinity'';
    END $text$', filling);
  EXECUTE format('CREATE VIEW usage_logs AS SELECT l.id, l.organisation_id, l.created_at AS bucket, l.created_at, l.%s, %s, '
    'l.created_at AS first_seen, l.created_at AS last_seen, ARRAY[(latency_bucket(l.duration_ms) << 32) + 1] AS latency, '
    'l.trace_id, l.span_id, l.metadata FROM logs l', array_to_string(traits, ', l.'), format(of_log, adjustments));
  EXECUTE format('CREATE FUNCTION follow_usage_adjustment() RETURNS trigger LANGUAGE plpgsql AS $text$ DECLARE since timestamptz := usage_complete_from(); BEGIN %s RETURN NULL; END $text$',
    (SELECT string_agg(format('UPDATE usage_%1$ss u SET cost_pico = u.cost_pico + NEW.delta_pico FROM logs l
        WHERE l.created_at >= since AND l.created_at = NEW.log_created_at AND l.id = NEW.log_id AND l.organisation_id = NEW.organisation_id AND u.organisation_id = l.organisation_id
          AND u.bucket = date_trunc(%1$L, l.created_at, %2$L) AND u.key = %3$s;', each, 'UTC', key), ' ') FROM unnest(ARRAY['hour', 'day']) each));

  FOREACH grain IN ARRAY ARRAY['usage_hours', 'usage_days', 'usage_day_latencies', 'usage_user_hours', 'usage_user_days'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', grain);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', grain);
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.05)', grain);
  END LOOP;
END $do$;
COMMENT ON VIEW usage_logs IS 'Logs in the shape of roll-ups, for what roll-ups cannot tell.';

-- A day is settled in one transaction: begun, one trait after the other, and noted in usage_settled_days.
CREATE FUNCTION begin_settling(day timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Whoever counts a late log of the day has the lock until it is committed, and is seen afterwards.
  PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:usage:' || extract(epoch FROM day), 0));
  DELETE FROM usage_day_latencies WHERE bucket = day;
END $$;

CREATE FUNCTION settle_latencies(day timestamptz, by text) RETURNS void LANGUAGE sql SET work_mem = '64MB' AS $$
  INSERT INTO usage_day_latencies (organisation_id, bucket, trait, workspace_id, value, latency)
  SELECT organisation_id, day, by, workspace_id, value, array_agg((cell << 32) + n ORDER BY cell)
    FROM (SELECT organisation_id, workspace_id, value, e >> 32 AS cell, sum(e & 4294967295)::bigint AS n
            FROM (SELECT u.organisation_id, u.workspace_id, u.latency,
                         CASE by WHEN 'provider' THEN provider WHEN 'provider_slug' THEN provider_slug WHEN 'model' THEN model WHEN 'config_slug' THEN config_slug
                           WHEN 'prompt_slug' THEN prompt_slug WHEN 'status' THEN status::text WHEN 'api_key_id' THEN api_key_id::text END AS value
                    FROM usage_days u WHERE u.bucket = day) u, unnest(u.latency) e
           GROUP BY 1, 2, 3, 4) cells
   GROUP BY 1, 4, 5
$$;

CREATE INDEX usage_days_bucket ON usage_days (bucket);

CREATE TRIGGER logs_usage AFTER INSERT ON logs REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION roll_up_logs();
CREATE TRIGGER cost_adjustments_usage AFTER INSERT ON cost_adjustments FOR EACH ROW WHEN (NEW.delta_pico <> 0) EXECUTE FUNCTION follow_usage_adjustment();
