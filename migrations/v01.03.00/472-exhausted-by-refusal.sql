-- phase: expand
-- Requests reserve more than they use, so that the last part of a budget is never used. When it refuses them, it is exhausted, and that is told.

-- Keeps that a budget passed a bound, once, and says of its owner that it is exhausted. Whoever settles, resets or changes a budget asks this.
-- `refusing`: it has just refused a request, and is exhausted if at most a tenth of it is left.
DROP FUNCTION judge_limit(text);
CREATE FUNCTION judge_limit(judged text, refusing boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
  now_slot bigint;
  ends timestamptz;
  spent bigint;
  terms record;
  unit numeric;
  is_exhausted boolean;
BEGIN
  SELECT * INTO held FROM limit_counters c WHERE c.id = judged;
  SELECT p.slot, p.ends INTO now_slot, ends FROM limit_period(clock_timestamp(), held.period, held.days, held.anchor) p;
  -- The owner first: whoever changes its limits holds its row before he comes here.
  SELECT t.credit, t.threshold INTO terms FROM limit_terms(held) t;
  spent := limit_spent(judged, now_slot);
  unit := limit_unit(held.counts);
  INSERT INTO limit_alerts (organisation_id, kind, owner_kind, owner_id, value_key, counter, slot, counts, used, bound, resets_at)
  SELECT held.organisation_id, b.kind, held.owner_kind, held.owner_id, held.value_key, judged, now_slot, held.counts, spent / unit, b.bound / unit, ends
    FROM (VALUES ('threshold', terms.threshold, terms.threshold),
                 ('exhausted', terms.credit, CASE WHEN refusing THEN terms.credit * 0.9 ELSE terms.credit END)) b (kind, bound, reached)
   WHERE spent >= b.reached
  ON CONFLICT (counter, slot, kind) WHERE rearmed_at IS NULL DO NOTHING;
  is_exhausted := spent >= terms.credit * 0.9 AND EXISTS (
    SELECT FROM limit_alerts a WHERE a.counter = judged AND a.slot = now_slot AND a.kind = 'exhausted' AND a.rearmed_at IS NULL);
  IF held.owner_kind = 'policy' AND (is_exhausted OR spent >= terms.threshold) THEN
    UPDATE usage_limit_policy_entities e
       SET status = CASE WHEN is_exhausted THEN 'exhausted' ELSE 'active' END,
           is_threshold_alerts_sent = e.is_threshold_alerts_sent OR spent >= coalesce(terms.threshold, spent + 1),
           is_exhausted_alerts_sent = e.is_exhausted_alerts_sent OR is_exhausted
     WHERE e.policy_id = held.owner_id AND e.value_key = held.value_key;
  ELSIF held.owner_kind IN ('api-key', 'provider') AND is_exhausted THEN
    EXECUTE format('UPDATE %I SET status = ''exhausted'' WHERE id = $1 AND status = ''active''', limit_table(held.owner_kind)) USING held.owner_id;
  END IF;
END $$;

-- Grants a slice as `take_limit` does, and keeps that this process holds it. `subject`: whose budget it is, for the first time it is asked for.
CREATE OR REPLACE FUNCTION lease_limit(
  leasing uuid, life_ms integer, subject jsonb,
  counter text, organisation uuid, most bigint, needed bigint, queued bigint, wanted bigint,
  slot_ms bigint, slots integer, period text, days integer, anchor timestamptz,
  OUT granted float8, OUT slot float8, OUT used float8, OUT slot_left_ms float8, OUT opens_ms float8
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
  SELECT t.granted, t.slot, t.used, t.slot_left_ms, t.opens_ms INTO granted, slot, used, slot_left_ms, opens_ms
    FROM take_limit(counter, organisation, most, needed, queued, wanted, slot_ms, slots, period, days, anchor) t;
  IF granted > 0 THEN
    INSERT INTO limit_leases AS l (counter, slot, process, organisation_id, amount) VALUES (lease_limit.counter, lease_limit.slot::bigint, leasing, organisation, lease_limit.granted::bigint)
    ON CONFLICT ON CONSTRAINT limit_leases_pkey DO UPDATE SET amount = l.amount + EXCLUDED.amount;
  END IF;
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
