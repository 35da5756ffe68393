-- phase: expand
-- Tokens may claim budgets for their holders. No row has their terms: each process knows them from the token, and nobody is alerted.

ALTER FUNCTION limit_terms(limit_counters) RENAME TO limit_terms_of_row;

-- The bounds of a budget whose owner has a row; none of a token's.
CREATE FUNCTION limit_terms(counter limit_counters, OUT credit numeric, OUT threshold numeric) LANGUAGE plpgsql AS $$
BEGIN
  IF counter.owner_kind <> 'token' THEN
    SELECT t.credit, t.threshold INTO credit, threshold FROM limit_terms_of_row(counter) t;
  END IF;
END $$;

-- The budgets that count now, in this period: what they have counted, in the units of their counters, and since when. `is_whole`: the logs since then
-- are all kept.
CREATE OR REPLACE FUNCTION counted_budgets() RETURNS TABLE (counter text, slot bigint, counts text, counted bigint, since timestamptz, is_whole boolean) LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
  oldest timestamptz;
BEGIN
  SELECT min(partition_day(c.relname))::timestamp AT TIME ZONE 'UTC' INTO oldest
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'logs'::regclass;
  FOR held IN SELECT * FROM limit_counters c WHERE c.owner_id IS NOT NULL ORDER BY c.id LOOP
    slot := (limit_period(clock_timestamp(), held.period, held.days, held.anchor)).slot;
    CONTINUE WHEN NOT held.granted ? slot::text;
    CONTINUE WHEN held.owner_kind <> 'token' AND (SELECT t.credit IS NULL AND t.threshold IS NULL FROM limit_terms(held) t);
    counter := held.id;
    counts := held.counts;
    counted := limit_spent(held.id, slot);
    since := greatest(limit_begun(slot, held.period, held.days, held.anchor), to_timestamp(held.counted_from / 1000.0), held.begun_at);
    is_whole := since >= oldest;
    RETURN NEXT;
  END LOOP;
END $$;
