-- phase: expand
-- What of a limit is used and held now.

CREATE FUNCTION limit_standing(
  counter text, slot_ms bigint, slots integer, period text, days integer, anchor timestamptz,
  OUT used bigint, OUT reserved bigint, OUT begun timestamptz, OUT ends timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  held limit_counters;
  first bigint;
BEGIN
  SELECT * INTO held FROM limit_counters c WHERE c.id = counter;
  IF slot_ms IS NULL THEN
    SELECT p.slot, p.ends INTO first, ends FROM limit_period(clock_timestamp(), period, days, anchor) p;
    begun := greatest(limit_begun(first, period, days, anchor), to_timestamp(held.counted_from / 1000.0), held.begun_at);
  ELSE
    first := floor(extract(epoch FROM clock_timestamp()) * 1000 / slot_ms) - slots;
  END IF;
  SELECT coalesce(sum(g.value::text::bigint), 0) INTO used FROM jsonb_each(held.granted) g
   WHERE g.key::bigint = first OR (slot_ms IS NOT NULL AND g.key::bigint > first);
  SELECT coalesce(sum(l.amount), 0) INTO reserved FROM limit_leases l
   WHERE l.counter = limit_standing.counter AND (l.slot = first OR (slot_ms IS NOT NULL AND l.slot > first));
  used := greatest(used - reserved, 0);
END $$;
