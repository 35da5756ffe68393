-- phase: expand
-- A slice whose grant was lost on its way to a process would be held as long as that process lives: takes are numbered, and a process names those that
-- it never heard of. A refusal tells what requests on their way hold apart from what is spent.

ALTER TABLE limit_leases ADD COLUMN take bigint, ADD COLUMN taken bigint;
COMMENT ON COLUMN limit_leases.take IS 'The number of the last take of the process that was granted.';
COMMENT ON COLUMN limit_leases.taken IS 'What it was granted.';

-- Frees what these takes of a process were granted. The counter's row is locked.
CREATE FUNCTION free_takes(freed text, holder uuid, numbers bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
BEGIN
  IF numbers IS NULL THEN
    RETURN;
  END IF;
  FOR part IN
    SELECT l.slot, l.amount, least(l.amount, l.taken) AS unheard FROM limit_leases l
     WHERE l.counter = freed AND l.process = holder AND l.take = ANY (numbers) AND l.taken > 0
  LOOP
    IF part.amount > part.unheard THEN
      UPDATE limit_leases l SET amount = l.amount - part.unheard, taken = 0 WHERE l.counter = freed AND l.process = holder AND l.slot = part.slot;
    ELSE
      DELETE FROM limit_leases l WHERE l.counter = freed AND l.process = holder AND l.slot = part.slot;
    END IF;
    UPDATE limit_counters c
       SET granted = c.granted || jsonb_build_object(part.slot::text, greatest((c.granted ->> part.slot::text)::bigint - part.unheard, 0)),
           last_updated_at = clock_timestamp()
     WHERE c.id = freed AND c.granted ? part.slot::text;
  END LOOP;
END $$;

-- Frees what takes of a process were granted that it never heard of, in the order of counters.
CREATE FUNCTION free_lost_takes(holder uuid, ids text[], numbers bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  lost record;
BEGIN
  FOR lost IN SELECT g.id, array_agg(g.number) AS numbers FROM unnest(ids, numbers) g (id, number) GROUP BY g.id ORDER BY g.id LOOP
    PERFORM FROM limit_counters c WHERE c.id = lost.id FOR UPDATE;
    PERFORM free_takes(lost.id, holder, lost.numbers);
  END LOOP;
END $$;

-- Grants a slice as `take_limit` does, and keeps that this process holds it. `subject`: whose budget it is, for the first time it is asked for. `unheard`:
-- the takes before of which the process heard nothing. The former release numbers none.
DROP FUNCTION lease_limit(uuid, integer, jsonb, text, uuid, bigint, bigint, bigint, bigint, bigint, integer, text, integer, timestamptz);
CREATE FUNCTION lease_limit(
  leasing uuid, life_ms integer, subject jsonb,
  counter text, organisation uuid, most bigint, needed bigint, queued bigint, wanted bigint,
  slot_ms bigint, slots integer, period text, days integer, anchor timestamptz,
  take_number bigint DEFAULT NULL, unheard bigint[] DEFAULT NULL,
  OUT granted float8, OUT slot float8, OUT used float8, OUT slot_left_ms float8, OUT opens_ms float8, OUT reserved float8
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM limit_processes p WHERE p.id = leasing AND p.lives_until > clock_timestamp() + make_interval(secs => life_ms / 2000.0);
  IF NOT FOUND THEN
    INSERT INTO limit_processes AS p (id, lives_until) VALUES (leasing, clock_timestamp() + make_interval(secs => life_ms / 1000.0))
    ON CONFLICT (id) DO UPDATE SET lives_until = EXCLUDED.lives_until;
  END IF;
  INSERT INTO limit_counters (id, organisation_id, owner_kind, owner_id, value_key, counts, counted_from, period, days, anchor, window_ms)
  VALUES (counter, organisation, subject ->> 'kind', (subject ->> 'id')::uuid, subject ->> 'valueKey', subject ->> 'counts', (subject ->> 'from')::bigint, period, days, anchor, slot_ms * (slots + 1))
  ON CONFLICT (id) DO NOTHING;
  IF FOUND AND subject ->> 'kind' = 'policy' THEN
    INSERT INTO usage_limit_policy_entities (id, organisation_id, workspace_id, policy_id, value_key)
    SELECT gen_random_uuid(), p.organisation_id, p.workspace_id, p.id, subject ->> 'valueKey' FROM usage_limit_policies p WHERE p.id = (subject ->> 'id')::uuid
    ON CONFLICT (policy_id, value_key) DO NOTHING;
  END IF;
  PERFORM FROM limit_counters c WHERE c.id = counter FOR UPDATE;
  PERFORM reclaim_leases(counter);
  PERFORM free_takes(counter, leasing, unheard);
  -- The process has asked again since, and does not wait for this one.
  IF EXISTS (SELECT FROM limit_leases l WHERE l.counter = lease_limit.counter AND l.process = leasing AND l.take > take_number) THEN
    granted := 0; slot := 0; used := 0; reserved := 0;
    RETURN;
  END IF;
  SELECT t.granted, t.slot, t.used, t.slot_left_ms, t.opens_ms INTO granted, slot, used, slot_left_ms, opens_ms
    FROM take_limit(counter, organisation, most, needed, queued, wanted, slot_ms, slots, period, days, anchor) t;
  IF granted > 0 THEN
    INSERT INTO limit_leases AS l (counter, slot, process, organisation_id, amount, take, taken)
    VALUES (lease_limit.counter, lease_limit.slot::bigint, leasing, organisation, lease_limit.granted::bigint, take_number, lease_limit.granted::bigint)
    ON CONFLICT ON CONSTRAINT limit_leases_pkey DO UPDATE SET amount = l.amount + EXCLUDED.amount, take = EXCLUDED.take, taken = EXCLUDED.taken;
  END IF;
  -- A sum over few rows, which only a refusal tells.
  reserved := CASE WHEN granted = 0 AND subject IS NOT NULL THEN used - limit_spent(counter, lease_limit.slot::bigint) ELSE 0 END;
  IF subject IS NOT NULL THEN
    UPDATE limit_counters c SET credit = most, threshold = (subject ->> 'threshold')::bigint
     WHERE c.id = counter AND (c.credit, c.threshold) IS DISTINCT FROM (most, (subject ->> 'threshold')::bigint);
    -- What was settled while the budget was changed was judged by neither.
    IF FOUND THEN
      PERFORM judge_limit(counter);
    END IF;
    IF granted = 0 AND limit_spent(counter, lease_limit.slot::bigint) >= most * 0.9 AND NOT EXISTS (
         SELECT FROM limit_alerts a
          WHERE a.counter = lease_limit.counter AND a.slot = lease_limit.slot::bigint AND a.kind = 'exhausted' AND a.rearmed_at IS NULL) THEN
      PERFORM judge_limit(counter, true);
    END IF;
  END IF;
END $$;
