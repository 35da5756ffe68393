-- phase: expand
-- The inverted index of each day of logs. Of the days that are there those that are small get it at once; the others are left as they are, so
-- that no upgrade waits for them, are searched row by row, and go with their retention. Each new day has it.

CREATE INDEX logs_search ON ONLY logs USING gin ((log_terms(organisation_id, workspace_id, api_key_id, user_id, provider, provider_slug, model, config_slug,
  prompt_slug, operation, status, outcome, error_code, cache_status, guardrail, stream, cost_pico::float8, total_tokens::float8, input_tokens::float8,
  output_tokens::float8, duration_ms::float8) || log_metadata_terms(metadata)));

DO $$
DECLARE
  day record;
  definition text := regexp_replace(pg_get_indexdef('logs_search'::regclass), '^.* USING ', '');
BEGIN
  FOR day IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'logs'::regclass AND pg_relation_size(c.oid) < 16 * 1024 * 1024
    ORDER BY c.relname
  LOOP
    EXECUTE format('CREATE INDEX %I ON %I USING %s', day.relname || '_search', day.relname, definition);
    EXECUTE format('ALTER INDEX logs_search ATTACH PARTITION %I', day.relname || '_search');
  END LOOP;
END $$;
