-- phase: expand
-- Logs in the shape of roll-ups have every column that logs are filtered by: analytics take all filters of lists.

DO $$
DECLARE
  definition text := pg_get_viewdef('usage_logs'::regclass);
  longer text := regexp_replace(definition, '\s+FROM logs l;?\s*$', ', l.operation, l.error_code, l.guardrail, l.stream, l.duration_ms FROM logs l');
BEGIN
  IF longer = definition THEN
    RAISE EXCEPTION 'the view usage_logs does not end as expected: %', definition;
  END IF;
  EXECUTE 'CREATE OR REPLACE VIEW usage_logs AS ' || longer;
END $$;
