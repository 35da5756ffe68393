-- phase: expand
-- A cost may be corrected before the process that counted it has settled it: a job that ends at once, a recompute of the last second. Then less is
-- granted than is held until that settlement comes, which makes both right. A correction that was cut off at what is held stayed spent for good;
-- `correct_limit`, which 471 makes anew, cuts none off.

CREATE OR REPLACE FUNCTION limit_spent(counter text, at bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT greatest(coalesce((c.granted ->> at::text)::bigint, 0) - coalesce((SELECT sum(l.amount) FROM limit_leases l WHERE l.counter = c.id AND l.slot = at), 0)::bigint, 0)
    FROM limit_counters c WHERE c.id = counter
$$;
