-- phase: expand
-- Each log keeps what its attempts counted against budgets, so that budgets can be counted again from the logs to the last unit, those of policies
-- too, and costs that are worked out again change the budgets that the request counted against, in its period.

ALTER TABLE logs ADD COLUMN budgets jsonb;
COMMENT ON COLUMN logs.budgets IS 'A list of [attempt, counter, slot, amount]; amounts of costs are texts of pico-US-dollars. Null: no budget applied.';
ALTER TABLE cost_adjustments ADD COLUMN budgets jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN cost_adjustments.budgets IS 'A list of [counter, slot, pico-US-dollars to add].';

CREATE OR REPLACE FUNCTION follow_cost_adjustment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT b ->> 0 AS counter, (b ->> 1)::bigint AS slot, (b ->> 2)::numeric AS delta FROM jsonb_array_elements(NEW.budgets) b ORDER BY 1, 2 LOOP
    PERFORM correct_limit(part.counter, part.slot, round(part.delta / 1000)::bigint);
  END LOOP;
  RETURN NULL;
END $$;

-- The beginning of a period.
CREATE FUNCTION limit_begun(slot bigint, period text, days integer, anchor timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN period = 'monthly' THEN ((coalesce(anchor, timestamptz '1970-01-01 00:00:00+00') AT TIME ZONE 'UTC') + make_interval(months => slot::integer)) AT TIME ZONE 'UTC'
    WHEN period IS NULL AND days IS NULL THEN '-infinity'::timestamptz
    ELSE coalesce(anchor, timestamptz '1970-01-05 00:00:00+00') + slot * make_interval(hours => 24 * coalesce(days, 7)) END
$$;

-- The budgets that count now, in this period: what they have counted, in the units of their counters, and since when. `is_whole`: the logs since then
-- are all kept.
CREATE FUNCTION counted_budgets() RETURNS TABLE (counter text, slot bigint, counts text, counted bigint, since timestamptz, is_whole boolean) LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
  oldest timestamptz;
BEGIN
  SELECT min(partition_day(c.relname))::timestamp AT TIME ZONE 'UTC' INTO oldest
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'logs'::regclass;
  FOR held IN SELECT * FROM limit_counters c WHERE c.owner_id IS NOT NULL ORDER BY c.id LOOP
    slot := (limit_period(clock_timestamp(), held.period, held.days, held.anchor)).slot;
    CONTINUE WHEN NOT held.granted ? slot::text;
    CONTINUE WHEN (SELECT t.credit IS NULL AND t.threshold IS NULL FROM limit_terms(held) t);
    counter := held.id;
    counts := held.counts;
    counted := limit_spent(held.id, slot);
    since := greatest(limit_begun(slot, held.period, held.days, held.anchor), to_timestamp(held.counted_from / 1000.0), held.begun_at);
    is_whole := since >= oldest;
    RETURN NEXT;
  END LOOP;
END $$;

DROP FUNCTION recount_limits();
DROP FUNCTION limit_owners(uuid, uuid, text);

-- Adds an amount to a slot that is still kept, and shows it. What processes hold of it stays theirs.
CREATE OR REPLACE FUNCTION correct_limit(corrected text, at bigint, delta bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
BEGIN
  UPDATE limit_counters c
     SET granted = c.granted || jsonb_build_object(at::text, greatest((c.granted ->> at::text)::bigint + delta,
           coalesce((SELECT sum(l.amount) FROM limit_leases l WHERE l.counter = c.id AND l.slot = at), 0)::bigint)),
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
