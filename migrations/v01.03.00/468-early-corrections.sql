-- phase: expand
-- A cost may be corrected before the process that counted it has settled it: a job that ends at once, a recompute of the last second. Then less is
-- granted than is held until that settlement comes, which makes both right. What was cut off at what was held stayed spent for good.

CREATE OR REPLACE FUNCTION limit_spent(counter text, at bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT greatest(coalesce((c.granted ->> at::text)::bigint, 0) - coalesce((SELECT sum(l.amount) FROM limit_leases l WHERE l.counter = c.id AND l.slot = at), 0)::bigint, 0)
    FROM limit_counters c WHERE c.id = counter
$$;

-- Adds an amount to a slot that is still kept, and shows it.
CREATE OR REPLACE FUNCTION correct_limit(corrected text, at bigint, delta bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
BEGIN
  UPDATE limit_counters c
     SET granted = c.granted || jsonb_build_object(at::text, greatest((c.granted ->> at::text)::bigint + delta, 0)),
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
