-- phase: expand
-- The words of logs, for whoever searches in bodies with LOG_SEARCH_INDEX=on: of each distinct word a hash under a key that the database does
-- not have, so that nothing of a body can be read here. Words find candidates: whoever asks reads the bodies too.

CREATE TABLE log_words (
  id uuid NOT NULL,
  organisation_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  words integer[] NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);
COMMENT ON COLUMN log_words.words IS 'Keyed hashes of its words; that of the empty word: it has more of them, or could not be read whole.';
CREATE INDEX log_words_search ON log_words USING gin (words);
ALTER TABLE log_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON log_words USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());

CREATE TABLE log_words_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  complete_from timestamptz NOT NULL
);
COMMENT ON COLUMN log_words_state.complete_from IS 'The words of every log from then on are there; infinity: they are not kept.';
INSERT INTO log_words_state (complete_from) VALUES ('infinity');

-- Whoever inserts logs without their words, whichever process and release it is, ends what is complete. Words are kept in a transaction that says so.
CREATE FUNCTION note_logs_without_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('app.log_words_kept', true) = 'on' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gatehouse:log-words', 0));
  IF EXISTS (SELECT FROM log_words_state WHERE complete_from < 'infinity') THEN
    UPDATE log_words_state SET complete_from = 'infinity' WHERE complete_from <= (SELECT max(created_at) FROM inserted);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER logs_words AFTER INSERT ON logs REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION note_logs_without_words();

-- Begins what is complete, if it does not last: behind all logs that are there, and when nobody is inserting logs without their words.
CREATE FUNCTION begin_log_words() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM log_words_state WHERE complete_from < 'infinity') THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:log-words', 0));
  UPDATE log_words_state SET complete_from = CASE WHEN EXISTS (SELECT FROM logs)
      THEN date_trunc('milliseconds', greatest(clock_timestamp(), (SELECT max(created_at) FROM logs))) + interval '1 millisecond' ELSE '-infinity' END
    WHERE complete_from = 'infinity';
END $$;

-- As `search` of logs: a condition of the caller could not use the index, that of a policy can.
CREATE FUNCTION open_words_partition(partition text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY search ON %I FOR SELECT USING ((words @> app_log_terms(''words'')::integer[] OR words @> app_log_terms(''words_cut'')::integer[])
    AND (organisation_id = app_organisation() OR app_is_system()))', partition);
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
        IF parent = 'logs' THEN
          PERFORM open_log_partition(partition);
        ELSIF parent = 'log_words' THEN
          PERFORM open_words_partition(partition);
        END IF;
      END IF;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION drop_log_partitions(older_than date) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition record;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('logs'::regclass, 'log_bodies'::regclass, 'log_words'::regclass) AND partition_day(c.relname) < older_than
  LOOP
    EXECUTE format('DROP TABLE %s', partition.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
