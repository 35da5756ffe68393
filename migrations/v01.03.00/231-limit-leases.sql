-- phase: expand
-- What processes hold of a counter stands in leases, so that what was spent can be told from what may still be spent, and what a process
-- held that died is free again. Spent is granted less leased. What a budget has spent is written back to whom it belongs to, and the moment at
-- which it passes its threshold or its end is kept once, in the transaction that makes it so.

CREATE TABLE limit_processes (
  id uuid PRIMARY KEY,
  batch bigint NOT NULL DEFAULT 0,
  lives_until timestamptz NOT NULL
);
COMMENT ON COLUMN limit_processes.batch IS 'The last settlements of the process: the same ones again change nothing.';
COMMENT ON COLUMN limit_processes.lives_until IS 'From then on its leases are free.';

ALTER TABLE limit_counters
  ADD COLUMN owner_kind text,
  ADD COLUMN owner_id uuid,
  ADD COLUMN value_key text,
  ADD COLUMN counts text,
  ADD COLUMN counted_from bigint,
  ADD COLUMN period text,
  ADD COLUMN days integer,
  ADD COLUMN anchor timestamptz,
  ADD COLUMN window_ms bigint,
  ADD COLUMN credit bigint,
  ADD COLUMN threshold bigint;
COMMENT ON COLUMN limit_counters.owner_kind IS 'Whose budget this is; null for rate limits.';
COMMENT ON COLUMN limit_counters.counted_from IS 'Epoch milliseconds of the reset that made this counter; 0: none did.';
COMMENT ON COLUMN limit_counters.window_ms IS 'Of a rate limit: what was not touched for so long counts nothing.';
COMMENT ON COLUMN limit_counters.credit IS 'As the process knew it that took last.';
CREATE INDEX limit_counters_owner ON limit_counters (owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE limit_leases (
  counter text NOT NULL REFERENCES limit_counters (id) ON DELETE CASCADE,
  slot bigint NOT NULL,
  process uuid NOT NULL,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  amount bigint NOT NULL CHECK (amount > 0),
  PRIMARY KEY (counter, slot, process)
);
CREATE INDEX limit_leases_organisation ON limit_leases (organisation_id);

CREATE TABLE limit_alerts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('threshold', 'exhausted')),
  owner_kind text NOT NULL,
  owner_id uuid NOT NULL,
  value_key text,
  counter text NOT NULL,
  slot bigint NOT NULL,
  counts text NOT NULL,
  used numeric NOT NULL,
  bound numeric NOT NULL,
  resets_at timestamptz,
  rearmed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE limit_alerts IS 'A budget passed its threshold or its end. Inserted once for each period, and once more after it was raised.';
COMMENT ON COLUMN limit_alerts.owner_kind IS 'api-key, provider, workspace, integration-workspace or policy; owner_id is the row of that.';
COMMENT ON COLUMN limit_alerts.value_key IS 'The values of a policy that groups; null elsewhere.';
COMMENT ON COLUMN limit_alerts.used IS 'US dollars, or what else is counted.';
COMMENT ON COLUMN limit_alerts.rearmed_at IS 'The limit was raised then: the same may be told again.';
CREATE UNIQUE INDEX limit_alerts_once ON limit_alerts (counter, slot, kind) WHERE rearmed_at IS NULL;
CREATE INDEX limit_alerts_owner ON limit_alerts (owner_id, kind);
CREATE INDEX limit_alerts_organisation ON limit_alerts (organisation_id, created_at);

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['limit_leases', 'limit_alerts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system())) WITH CHECK (organisation_id = (SELECT app_organisation()) OR (SELECT app_is_system()))', business);
  END LOOP;
END $$;

ALTER TABLE workspaces ADD COLUMN usage_reset_at timestamptz;
COMMENT ON COLUMN workspaces.usage_reset_at IS 'What was used before it does not count against the limits.';

CREATE FUNCTION limit_ms(moment timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT floor(extract(epoch FROM moment) * 1000)::bigint $$;

-- A dollar is counted in so many units, all else in ones.
CREATE FUNCTION limit_unit(counts text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT CASE counts WHEN 'cost' THEN 1000000000 ELSE 1 END $$;

-- Whose budgets have which table. Names are found when they are asked for: the policies come with a later release.
CREATE FUNCTION limit_table(owner_kind text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE owner_kind WHEN 'api-key' THEN 'api_keys' WHEN 'provider' THEN 'providers' WHEN 'workspace' THEN 'workspaces'
    WHEN 'integration-workspace' THEN 'integration_workspaces' WHEN 'policy' THEN 'usage_limit_policies' END
$$;

CREATE FUNCTION limit_spent(counter text, at bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce((c.granted ->> at::text)::bigint, 0) - coalesce((SELECT sum(l.amount) FROM limit_leases l WHERE l.counter = c.id AND l.slot = at), 0)::bigint
    FROM limit_counters c WHERE c.id = counter
$$;

-- The bounds of a budget as its row has them, in the units of its counter, while this is the counter that the row asks for; none otherwise.
CREATE FUNCTION limit_terms(counter limit_counters, OUT credit numeric, OUT threshold numeric) LANGUAGE plpgsql AS $$
DECLARE
  held jsonb;
  terms jsonb;
  begun timestamptz;
BEGIN
  EXECUTE format('SELECT to_jsonb(t) FROM %I t WHERE t.id = $1 AND t.organisation_id = $2 FOR NO KEY UPDATE', limit_table(counter.owner_kind))
    INTO held USING counter.owner_id, counter.organisation_id;
  IF counter.owner_kind = 'policy' THEN
    terms := CASE WHEN held ->> 'status' = 'active' THEN held END;
    SELECT e.last_reset_at INTO begun FROM usage_limit_policy_entities e WHERE e.policy_id = counter.owner_id AND e.value_key = counter.value_key;
    begun := coalesce(begun, (held ->> 'last_reset_at')::timestamptz);
  ELSE
    terms := held -> 'usage_limits';
    terms := CASE jsonb_typeof(terms) WHEN 'array' THEN terms -> 0 WHEN 'object' THEN terms END;
    begun := (held ->> 'usage_reset_at')::timestamptz;
  END IF;
  IF terms IS NULL
     OR coalesce(terms ->> 'type', 'cost') <> counter.counts
     OR (terms ->> 'periodic_reset') IS DISTINCT FROM counter.period
     OR (terms ->> 'periodic_reset_days')::integer IS DISTINCT FROM counter.days
     OR limit_ms((limit_period(clock_timestamp(), counter.period, counter.days, date_trunc('milliseconds', coalesce((terms ->> 'next_usage_reset_at')::timestamptz,
          CASE WHEN counter.days IS NOT NULL THEN (held ->> 'created_at')::timestamptz END)))).ends)
        IS DISTINCT FROM limit_ms((limit_period(clock_timestamp(), counter.period, counter.days, counter.anchor)).ends)
     OR coalesce(limit_ms(begun), 0) <> counter.counted_from THEN
    RETURN;
  END IF;
  credit := coalesce((terms ->> 'credit_limit_pico')::numeric / 1000000000000, (terms ->> 'credit_limit')::numeric) * limit_unit(counter.counts);
  threshold := coalesce((terms ->> 'alert_threshold_pico')::numeric / 1000000000000, (terms ->> 'alert_threshold')::numeric) * limit_unit(counter.counts);
END $$;

-- Keeps that a budget passed a bound, once, and says of its owner that it is exhausted. Whoever settles, resets or changes a budget asks this.
CREATE FUNCTION judge_limit(judged text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
  now_slot bigint;
  ends timestamptz;
  spent bigint;
  terms record;
  unit numeric;
BEGIN
  SELECT * INTO held FROM limit_counters c WHERE c.id = judged;
  SELECT p.slot, p.ends INTO now_slot, ends FROM limit_period(clock_timestamp(), held.period, held.days, held.anchor) p;
  -- The owner first: whoever changes its limits holds its row before he comes here.
  SELECT t.credit, t.threshold INTO terms FROM limit_terms(held) t;
  spent := limit_spent(judged, now_slot);
  unit := limit_unit(held.counts);
  INSERT INTO limit_alerts (organisation_id, kind, owner_kind, owner_id, value_key, counter, slot, counts, used, bound, resets_at)
  SELECT held.organisation_id, b.kind, held.owner_kind, held.owner_id, held.value_key, judged, now_slot, held.counts, spent / unit, b.bound / unit, ends
    FROM (VALUES ('threshold', terms.threshold), ('exhausted', terms.credit)) b (kind, bound)
   WHERE spent >= b.bound
  ON CONFLICT (counter, slot, kind) WHERE rearmed_at IS NULL DO NOTHING;
  IF held.owner_kind = 'policy' AND spent >= least(terms.threshold, terms.credit) THEN
    UPDATE usage_limit_policy_entities e
       SET status = CASE WHEN spent >= terms.credit THEN 'exhausted' ELSE 'active' END,
           is_threshold_alerts_sent = e.is_threshold_alerts_sent OR spent >= coalesce(terms.threshold, spent + 1),
           is_exhausted_alerts_sent = e.is_exhausted_alerts_sent OR spent >= terms.credit
     WHERE e.policy_id = held.owner_id AND e.value_key = held.value_key;
  ELSIF held.owner_kind IN ('api-key', 'provider') AND spent >= terms.credit THEN
    EXECUTE format('UPDATE %I SET status = ''exhausted'' WHERE id = $1 AND status = ''active''', limit_table(held.owner_kind)) USING held.owner_id;
  END IF;
END $$;

-- Frees what processes held that live no more. The counter's row is locked.
CREATE FUNCTION reclaim_leases(reclaimed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
BEGIN
  FOR part IN
    WITH dead AS (
      DELETE FROM limit_leases l WHERE l.counter = reclaimed
         AND NOT EXISTS (SELECT FROM limit_processes p WHERE p.id = l.process AND p.lives_until > clock_timestamp())
      RETURNING l.slot, l.amount)
    SELECT d.slot, sum(d.amount)::bigint AS amount FROM dead d GROUP BY d.slot
  LOOP
    UPDATE limit_counters c
       SET granted = c.granted || jsonb_build_object(part.slot::text, greatest((c.granted ->> part.slot::text)::bigint - part.amount, 0))
     WHERE c.id = reclaimed AND c.granted ? part.slot::text;
  END LOOP;
END $$;

-- Grants a slice as `take_limit` does, and keeps that this process holds it. `subject`: whose budget it is, for the first time it is asked for.
CREATE FUNCTION lease_limit(
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
  END IF;
END $$;

-- Writes what a process used and what it gives back, in the order of counters, once for each number of a batch. What was used of a lease
-- that was reclaimed is added again.
CREATE FUNCTION settle_limits(settling uuid, life_ms integer, number bigint, ids text[], slots bigint[], frees bigint[], uses bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
  counter limit_counters;
  leased bigint;
  spent bigint;
BEGIN
  INSERT INTO limit_processes AS p (id, batch, lives_until) VALUES (settling, number, clock_timestamp() + make_interval(secs => life_ms / 1000.0))
  ON CONFLICT (id) DO UPDATE SET batch = EXCLUDED.batch, lives_until = EXCLUDED.lives_until WHERE p.batch < EXCLUDED.batch;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part IN SELECT * FROM unnest(ids, slots, frees, uses) WITH ORDINALITY AS g (id, slot, freed, used, place) ORDER BY place LOOP
    SELECT * INTO counter FROM limit_counters c WHERE c.id = part.id FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    SELECT l.amount INTO leased FROM limit_leases l WHERE l.counter = part.id AND l.slot = part.slot AND l.process = settling;
    leased := coalesce(leased, 0);
    IF leased > part.freed + part.used THEN
      UPDATE limit_leases l SET amount = leased - part.freed - part.used WHERE l.counter = part.id AND l.slot = part.slot AND l.process = settling;
    ELSIF leased > 0 THEN
      DELETE FROM limit_leases l WHERE l.counter = part.id AND l.slot = part.slot AND l.process = settling;
    END IF;
    -- A slot that is gone takes nothing.
    CONTINUE WHEN NOT counter.granted ? part.slot::text;
    UPDATE limit_counters c
       SET granted = c.granted || jsonb_build_object(part.slot::text,
             greatest((c.granted ->> part.slot::text)::bigint - least(leased, part.freed + part.used) + part.used, 0)),
           last_updated_at = clock_timestamp()
     WHERE c.id = part.id;
    CONTINUE WHEN counter.owner_id IS NULL OR part.used = 0;
    spent := limit_spent(part.id, part.slot);
    IF counter.owner_kind = 'policy' THEN
      PERFORM show_limit_usage(counter, spent);
    END IF;
    IF (spent >= counter.threshold AND NOT EXISTS (
          SELECT FROM limit_alerts a WHERE a.counter = part.id AND a.slot = part.slot AND a.kind = 'threshold' AND a.rearmed_at IS NULL))
       OR (spent >= counter.credit AND NOT EXISTS (
          SELECT FROM limit_alerts a WHERE a.counter = part.id AND a.slot = part.slot AND a.kind = 'exhausted' AND a.rearmed_at IS NULL)) THEN
      PERFORM judge_limit(part.id);
    END IF;
  END LOOP;
END $$;

-- Shows what a combination of a policy's values has used. The column has another name since 1.11.0.
CREATE FUNCTION show_limit_usage(counter limit_counters, spent bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_pico boolean;
BEGIN
  SELECT count(*) = 1 INTO is_pico FROM pg_attribute a
   WHERE a.attrelid = 'usage_limit_policy_entities'::regclass AND a.attname = 'current_usage_pico' AND NOT a.attisdropped;
  EXECUTE format('UPDATE usage_limit_policy_entities SET %I = $1 WHERE policy_id = $2 AND value_key = $3 AND coalesce(floor(extract(epoch FROM last_reset_at) * 1000), 0) = $4',
      CASE WHEN is_pico THEN 'current_usage_pico' ELSE 'current_usage' END)
    USING spent / limit_unit(counter.counts) * CASE WHEN is_pico THEN 1000000000000 ELSE 1 END, counter.owner_id, counter.value_key, counter.counted_from;
END $$;

-- A budget was changed or reset: its owner is active until it is found exhausted again, and what was raised may be told again.
CREATE FUNCTION revive_limited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'exhausted' THEN
    NEW.status := 'active';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION rearm_limited() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  before jsonb := to_jsonb(OLD) -> 'usage_limits';
  after jsonb := to_jsonb(NEW) -> 'usage_limits';
BEGIN
  before := CASE jsonb_typeof(before) WHEN 'array' THEN before -> 0 ELSE before END;
  after := CASE jsonb_typeof(after) WHEN 'array' THEN after -> 0 ELSE after END;
  PERFORM rearm_limit(NEW.id, (before ->> 'credit_limit')::numeric, (after ->> 'credit_limit')::numeric,
    (before ->> 'alert_threshold')::numeric, (after ->> 'alert_threshold')::numeric);
  RETURN NULL;
END $$;

CREATE FUNCTION rearm_limit(owner uuid, credit_before numeric, credit numeric, threshold_before numeric, threshold numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  judged text;
BEGIN
  UPDATE limit_alerts a SET rearmed_at = clock_timestamp()
   WHERE a.owner_id = owner AND a.rearmed_at IS NULL
     AND (coalesce(credit, 'infinity') > coalesce(credit_before, 'infinity')
          OR (a.kind = 'threshold' AND coalesce(threshold, 'infinity') > coalesce(threshold_before, 'infinity')));
  FOR judged IN SELECT c.id FROM limit_counters c WHERE c.owner_id = owner ORDER BY c.id LOOP
    PERFORM judge_limit(judged);
  END LOOP;
END $$;

DO $$
DECLARE
  limited text;
BEGIN
  FOREACH limited IN ARRAY ARRAY['api_keys', 'providers', 'workspaces', 'integration_workspaces'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.usage_limits IS DISTINCT FROM NEW.usage_limits OR OLD.usage_reset_at IS DISTINCT FROM NEW.usage_reset_at) EXECUTE FUNCTION rearm_limited()', limited || '_rearm', limited);
  END LOOP;
  FOREACH limited IN ARRAY ARRAY['api_keys', 'providers'] LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH ROW WHEN (OLD.usage_limits IS DISTINCT FROM NEW.usage_limits OR OLD.usage_reset_at IS DISTINCT FROM NEW.usage_reset_at) EXECUTE FUNCTION revive_limited()', limited || '_revive', limited);
  END LOOP;
END $$;
