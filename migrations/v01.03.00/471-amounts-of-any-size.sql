-- phase: expand
-- A provider may answer any figure as its usage. What would be more than a counter holds fills it, so that no figure keeps others from being counted.

-- The most that a slot of a counter has: above every limit, and in reach of all columns that show it.
CREATE FUNCTION limit_fitting(counter limit_counters, amount numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(least(amount, CASE counter.counts WHEN 'cost' THEN 9e18 ELSE 1e17 END), 0)::bigint
$$;

-- Writes what a process used and what it gives back, in the order of counters, once for each number of a batch. What was used of a lease
-- that was reclaimed is added again.
CREATE OR REPLACE FUNCTION settle_limits(settling uuid, life_ms integer, number bigint, ids text[], slots bigint[], frees bigint[], uses bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
  counter limit_counters;
  leased bigint;
  settled numeric;
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
    settled := part.freed::numeric + part.used;
    IF leased > settled THEN
      UPDATE limit_leases l SET amount = leased - settled WHERE l.counter = part.id AND l.slot = part.slot AND l.process = settling;
    ELSIF leased > 0 THEN
      DELETE FROM limit_leases l WHERE l.counter = part.id AND l.slot = part.slot AND l.process = settling;
    END IF;
    -- A slot that is gone takes nothing.
    CONTINUE WHEN NOT counter.granted ? part.slot::text;
    UPDATE limit_counters c
       SET granted = c.granted || jsonb_build_object(part.slot::text, limit_fitting(c, (c.granted ->> part.slot::text)::numeric - least(leased, settled) + part.used)),
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

-- Adds an amount to a slot that is still kept, and shows it.
DROP FUNCTION correct_limit(text, bigint, bigint);
CREATE FUNCTION correct_limit(corrected text, at bigint, delta numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
BEGIN
  UPDATE limit_counters c
     SET granted = c.granted || jsonb_build_object(at::text, limit_fitting(c, (c.granted ->> at::text)::numeric + delta)),
         last_updated_at = clock_timestamp()
   WHERE c.id = corrected AND c.granted ? at::text
  RETURNING * INTO held;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF held.owner_kind = 'policy' AND at = (limit_period(clock_timestamp(), held.period, held.days, held.anchor)).slot THEN
    PERFORM show_limit_usage(held, limit_spent(corrected, at));
  END IF;
  PERFORM judge_limit(corrected);
END $$;

CREATE OR REPLACE FUNCTION follow_cost_adjustment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT b ->> 0 AS counter, (b ->> 1)::bigint AS slot, (b ->> 2)::numeric AS delta FROM jsonb_array_elements(NEW.budgets) b ORDER BY 1, 2 LOOP
    PERFORM correct_limit(part.counter, part.slot, round(part.delta / 1000));
  END LOOP;
  RETURN NULL;
END $$;

-- Sets what is in doubt for some time to what the logs of the dead process say that it used and had not settled. `later`: of doubts that were resolved once.
CREATE OR REPLACE FUNCTION resolve_doubts(waits interval, later boolean) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  doubt record;
  resolved integer := 0;
BEGIN
  DELETE FROM limit_doubts d WHERE d.since < now() - interval '1 day';
  FOR doubt IN
    WITH due AS MATERIALIZED (
      SELECT d.*, left(d.process::text, 8) AS short, greatest(d.batch, coalesce((SELECT p.batch FROM limit_processes p WHERE p.id = d.process), 0)) AS settled
        FROM limit_doubts d WHERE d.since < clock_timestamp() - waits AND (later OR d.resolved_at IS NULL)),
    used AS (
      SELECT b ->> 1 AS counter, (b ->> 2)::bigint AS slot, split_part(b ->> 4, ':', 1) AS short, split_part(b ->> 4, ':', 2)::bigint AS batch, (b ->> 3)::numeric AS amount
        FROM logs l, jsonb_array_elements(l.budgets) b
       WHERE l.created_at > (SELECT min(since) FROM due) - interval '1 day' AND l.budgets IS NOT NULL
         AND split_part(b ->> 4, ':', 1) IN (SELECT short FROM due))
    SELECT d.counter, d.slot, d.process, d.amount, limit_fitting(c, coalesce((
             SELECT CASE c.counts WHEN 'cost' THEN ceil(sum(u.amount) / 1000) ELSE sum(u.amount) END
               FROM used u WHERE u.counter = d.counter AND u.slot = d.slot AND u.short = d.short AND u.batch > d.settled), 0)) AS unsettled
      FROM due d JOIN limit_counters c ON c.id = d.counter
     ORDER BY d.counter, d.slot
  LOOP
    PERFORM FROM limit_counters c WHERE c.id = doubt.counter FOR UPDATE;
    UPDATE limit_doubts d SET amount = doubt.unsettled, resolved_at = clock_timestamp()
     WHERE d.counter = doubt.counter AND d.slot = doubt.slot AND d.process = doubt.process AND d.amount = doubt.amount;
    CONTINUE WHEN NOT FOUND OR doubt.unsettled = doubt.amount;
    PERFORM correct_limit(doubt.counter, doubt.slot, doubt.unsettled - doubt.amount);
    resolved := resolved + 1;
  END LOOP;
  RETURN resolved;
END $$;
