-- phase: expand
-- Answers that the gateway gives again, sealed, in weekly partitions by the time at which they expire. The partitions are unlogged: after a
-- crash of the server they are empty, which costs one call of a provider for each answer.

CREATE TABLE cached_answers (
  key text NOT NULL,
  organisation_id uuid NOT NULL,
  workspace_id uuid,
  namespace text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  answer bytea NOT NULL,
  PRIMARY KEY (key, expires_at, created_at)
) PARTITION BY RANGE (expires_at);
CREATE INDEX cached_answers_owner ON cached_answers (organisation_id, workspace_id, namespace);
COMMENT ON COLUMN cached_answers.key IS 'A hash of the tenant, the credential and all that the request says.';
COMMENT ON COLUMN cached_answers.answer IS 'Head and body, sealed with the log key for this organisation and key.';

ALTER TABLE cached_answers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON cached_answers USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());

-- The latest purge of an organisation: it is told to every process, and keeps out answers to requests that began before it.
CREATE TABLE cache_purges (
  id uuid PRIMARY KEY REFERENCES organisations (id),
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  purged_at timestamptz NOT NULL,
  CHECK (id = organisation_id)
);
ALTER TABLE cache_purges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON cache_purges USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE TRIGGER cache_purges_changes AFTER INSERT OR UPDATE ON cache_purges FOR EACH ROW EXECUTE FUNCTION record_change();

-- Partitions are made by their owner, whoever asks, and reached through their parent only.
CREATE FUNCTION ensure_answer_partition(expiry timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
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
    END IF;
  END IF;
END $$;

CREATE FUNCTION drop_answer_partitions() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition record;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'cached_answers'::regclass AND to_date(right(c.relname, 8), 'YYYYMMDD') + 7 <= (now() AT TIME ZONE 'UTC')::date
  LOOP
    EXECUTE format('DROP TABLE %s', partition.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;

-- Keeps an answer, unless its organisation purged answers after the request began. The lock orders it with a purge: whichever comes first.
CREATE FUNCTION keep_answer(answer_key text, organisation uuid, workspace uuid, answer_namespace text, asked_ms_ago double precision,
  kept_ms double precision, sealed bytea) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  expiry timestamptz := now() + kept_ms * interval '1 millisecond';
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gatehouse:answers:' || organisation, 0));
  IF EXISTS (SELECT FROM cache_purges p WHERE p.id = organisation AND p.purged_at >= clock_timestamp() - asked_ms_ago * interval '1 millisecond') THEN
    RETURN;
  END IF;
  PERFORM ensure_answer_partition(expiry);
  INSERT INTO cached_answers (key, organisation_id, workspace_id, namespace, created_at, expires_at, answer)
    VALUES (answer_key, organisation, workspace, answer_namespace, clock_timestamp(), expiry, sealed);
END $$;
