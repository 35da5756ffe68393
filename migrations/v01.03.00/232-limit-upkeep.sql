-- phase: expand
-- Periods end while nobody asks, processes die while nobody asks, and values that callers choose make many counters: a job looks after them.

CREATE INDEX limit_counters_touched ON limit_counters (last_updated_at);
CREATE INDEX limit_leases_process ON limit_leases (process);

CREATE FUNCTION keep_limits() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held record;
  limited text;
BEGIN
  FOR held IN
    SELECT DISTINCT l.counter AS id FROM limit_leases l
     WHERE NOT EXISTS (SELECT FROM limit_processes p WHERE p.id = l.process AND p.lives_until > clock_timestamp())
     ORDER BY 1 LIMIT 10000
  LOOP
    PERFORM FROM limit_counters c WHERE c.id = held.id FOR UPDATE;
    PERFORM reclaim_leases(held.id);
  END LOOP;
  DELETE FROM limit_processes p WHERE p.lives_until < now() - interval '1 day' AND NOT EXISTS (SELECT FROM limit_leases l WHERE l.process = p.id);
  DELETE FROM limit_counters c
   WHERE c.last_updated_at < now() - make_interval(secs => coalesce(c.window_ms, 400 * 86400000::bigint) / 1000.0)
     AND (c.window_ms IS NOT NULL OR c.period IS NOT NULL OR c.days IS NOT NULL)
     AND NOT EXISTS (SELECT FROM limit_leases l WHERE l.counter = c.id);
  DELETE FROM limit_alerts a WHERE a.created_at < now() - interval '400 days';
  FOREACH limited IN ARRAY ARRAY['api_keys', 'providers'] LOOP
    EXECUTE format('UPDATE %I k SET status = ''active'' WHERE k.status = ''exhausted'' AND NOT EXISTS (
      SELECT FROM limit_alerts a JOIN limit_counters c ON c.id = a.counter
       WHERE a.owner_id = k.id AND a.kind = ''exhausted'' AND a.rearmed_at IS NULL
         AND a.slot = (limit_period(clock_timestamp(), c.period, c.days, c.anchor)).slot
         AND c.counted_from = coalesce(limit_ms(k.usage_reset_at), 0))', limited);
  END LOOP;
  IF to_regclass('usage_limit_policy_entities') IS NOT NULL THEN
    PERFORM keep_policy_usage();
  END IF;
  -- Who settled while the budget was changed was judged by neither.
  FOR held IN SELECT c.id FROM limit_counters c WHERE c.owner_id IS NOT NULL AND c.last_updated_at > now() - interval '3 minutes' ORDER BY c.id LIMIT 10000 LOOP
    PERFORM judge_limit(held.id);
  END LOOP;
END $$;

-- A combination of values of which nothing was used in this period starts at 0.
CREATE FUNCTION keep_policy_usage() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  counter limit_counters;
BEGIN
  FOR counter IN
    SELECT DISTINCT ON (c.owner_id, c.value_key) c.* FROM limit_counters c
      JOIN usage_limit_policy_entities e ON e.policy_id = c.owner_id AND e.value_key = c.value_key
     WHERE c.owner_kind = 'policy' AND coalesce((to_jsonb(e) ->> 'current_usage_pico')::numeric, (to_jsonb(e) ->> 'current_usage')::numeric) <> 0
     ORDER BY c.owner_id, c.value_key, c.last_updated_at DESC
  LOOP
    IF NOT counter.granted ? ((limit_period(clock_timestamp(), counter.period, counter.days, counter.anchor)).slot)::text THEN
      PERFORM show_limit_usage(counter, 0);
      UPDATE usage_limit_policy_entities e SET status = 'active', is_threshold_alerts_sent = false, is_exhausted_alerts_sent = false
       WHERE e.policy_id = counter.owner_id AND e.value_key = counter.value_key;
    END IF;
  END LOOP;
END $$;
