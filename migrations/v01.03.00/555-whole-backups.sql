-- phase: expand
-- Partitions show all rows to a reader of all organisations, so that pg_dump, which reads partitions and not their parents, leaves none out.

-- Immutable only in name: it is evaluated when a query is planned. So a search of one organisation, whose condition is in another policy of the
-- same partition, is planned without this policy and keeps its index. Which rows are shown is decided by app_is_system(), when the query runs.
CREATE FUNCTION app_is_planned_for_system() RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(current_setting('app.scope', true) = 'system', false);
END $$;

CREATE FUNCTION open_partition_to_system(partition text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY whole ON %I FOR SELECT USING (app_is_planned_for_system() AND app_is_system())', partition);
END $$;

CREATE OR REPLACE FUNCTION ensure_log_partitions(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  parent text;
  partition text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['logs', 'log_bodies', 'log_words'] LOOP
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:partition:' || partition, 0));
      IF to_regclass(partition) IS NULL THEN
        -- Rows up to a page stay in the row and are not compressed, which halves the CPU of an insert; larger bodies are compressed.
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (toast_tuple_target = 8160)', partition, parent,
          day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
        PERFORM open_partition_to_system(partition);
        IF parent = 'logs' THEN
          PERFORM open_log_partition(partition);
        ELSIF parent = 'log_words' THEN
          PERFORM open_words_partition(partition);
        END IF;
      END IF;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION ensure_answer_partition(expiry timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  first_day date := date_trunc('week', expiry AT TIME ZONE 'UTC')::date;
  partition text := 'cached_answers_' || to_char(first_day, 'YYYYMMDD');
BEGIN
  IF to_regclass(partition) IS NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:partition:' || partition, 0));
    IF to_regclass(partition) IS NULL THEN
      EXECUTE format('CREATE UNLOGGED TABLE %I PARTITION OF cached_answers FOR VALUES FROM (%L) TO (%L)', partition,
        first_day::timestamp AT TIME ZONE 'UTC', (first_day + 7)::timestamp AT TIME ZONE 'UTC');
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
      PERFORM open_partition_to_system(partition);
    END IF;
  END IF;
END $$;

SELECT open_partition_to_system(c.relname) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent IN ('logs'::regclass, 'log_bodies'::regclass, 'log_words'::regclass, 'cached_answers'::regclass) ORDER BY c.relname;
