-- phase: expand
-- A part of the logs in the shape of roll-ups, for what only logs can say of more of them than can be read: some pages of each day, the same for
-- the same question.

CREATE FUNCTION app_sample_percent() RETURNS real LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(current_setting('app.sample_percent', true), ''), '100')::real
$$;

DO $$
DECLARE
  definition text := pg_get_viewdef('usage_logs'::regclass);
  sampled text := regexp_replace(definition, '(\s+FROM logs l);?\s*$', '\1 TABLESAMPLE SYSTEM (app_sample_percent()) REPEATABLE (1)');
BEGIN
  IF sampled = definition THEN
    RAISE EXCEPTION 'the view usage_logs does not end as expected: %', definition;
  END IF;
  EXECUTE 'CREATE VIEW usage_sampled_logs AS ' || sampled;
END $$;
COMMENT ON VIEW usage_sampled_logs IS 'As usage_logs, of the pages that app.sample_percent leaves.';

-- Tells of the logs of a range how many there are, of all organisations, and on how many pages: as the planner knows it, a day in parts of it.
CREATE FUNCTION size_of_logs(first timestamptz, last timestamptz, OUT rows double precision, OUT pages double precision) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(greatest(c.reltuples, 0) * part), 0), coalesce(sum(c.relpages * part), 0)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
         LATERAL (SELECT partition_day(c.relname)::timestamp AT TIME ZONE 'UTC' AS begin) d,
         LATERAL (SELECT greatest(extract(epoch FROM least(last, d.begin + interval '1 day', now()) - greatest(first, d.begin)), 0)
                       / greatest(extract(epoch FROM least(d.begin + interval '1 day', now()) - d.begin), 1) AS part) p
   WHERE i.inhparent = 'logs'::regclass AND part > 0
$$;
