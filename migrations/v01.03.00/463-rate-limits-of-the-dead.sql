-- phase: expand
-- What a process held of a rate limit when it died may have been sent, and no log tells: it stays used until the window has left it behind.

-- Takes what processes held that live no more: of a budget it is in doubt, of a rate limit it is given up when it counts no more. The counter's row is locked.
CREATE OR REPLACE FUNCTION reclaim_leases(reclaimed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
  held limit_counters;
BEGIN
  SELECT * INTO held FROM limit_counters c WHERE c.id = reclaimed;
  FOR part IN
    DELETE FROM limit_leases l WHERE l.counter = reclaimed
       AND NOT EXISTS (SELECT FROM limit_processes p WHERE p.id = l.process AND p.lives_until > clock_timestamp() - held_on(held))
    RETURNING l.slot, l.amount, l.process
  LOOP
    CONTINUE WHEN held.owner_id IS NULL;
    INSERT INTO limit_doubts AS d (counter, slot, process, organisation_id, amount, batch)
    VALUES (reclaimed, part.slot, part.process, held.organisation_id, part.amount, coalesce((SELECT p.batch FROM limit_processes p WHERE p.id = part.process), 0))
    ON CONFLICT (counter, slot, process) DO UPDATE SET amount = d.amount + EXCLUDED.amount, batch = EXCLUDED.batch, since = clock_timestamp(), resolved_at = NULL;
  END LOOP;
END $$;

-- How long after the death of a process what it held of a counter is held on.
CREATE FUNCTION held_on(counter limit_counters) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN counter.owner_id IS NULL THEN make_interval(secs => coalesce(counter.window_ms, 8 * 86400000::bigint) / 1000.0) ELSE interval '0' END
$$;

CREATE OR REPLACE FUNCTION keep_limits() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held record;
  limited text;
BEGIN
  FOR held IN
    SELECT DISTINCT l.counter AS id FROM limit_leases l JOIN limit_counters c ON c.id = l.counter
     WHERE NOT EXISTS (SELECT FROM limit_processes p WHERE p.id = l.process AND p.lives_until > clock_timestamp() - held_on(c))
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
