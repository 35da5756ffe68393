-- phase: expand
-- The logs of one trace are found without reading all others. Of the days that are there those that are not large get the index at once;
-- the others are left as they are, so that no upgrade waits for them, and go with their retention. Each new day has it.

CREATE INDEX logs_trace ON ONLY logs (organisation_id, trace_id);

DO $$
DECLARE
  day record;
BEGIN
  FOR day IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'logs'::regclass AND pg_relation_size(c.oid) < 256 * 1024 * 1024
    ORDER BY c.relname
  LOOP
    EXECUTE format('CREATE INDEX %I ON %I (organisation_id, trace_id)', day.relname || '_trace', day.relname);
    EXECUTE format('ALTER INDEX logs_trace ATTACH PARTITION %I', day.relname || '_trace');
  END LOOP;
END $$;
