-- phase: expand
-- Budgets follow costs that are worked out again, and can be recounted from the logs.

ALTER TABLE limit_counters ADD COLUMN begun_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN limit_counters.begun_at IS 'Requests before it, but for those on their way then, are not counted here.';

-- The owners of budgets that a request counted against, apart from policies: whether it met their conditions is not in its log.
CREATE FUNCTION limit_owners(api_key uuid, workspace uuid, slug text) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT api_key WHERE api_key IS NOT NULL
  UNION ALL SELECT workspace WHERE workspace IS NOT NULL
  UNION ALL SELECT p.id FROM providers p WHERE p.workspace_id = workspace AND p.slug = ltrim(limit_owners.slug, '@')
  UNION ALL SELECT g.id FROM providers p JOIN integration_workspaces g ON g.integration_id = p.integration_id AND g.workspace_id = p.workspace_id
    WHERE p.workspace_id = workspace AND p.slug = ltrim(limit_owners.slug, '@')
$$;

-- Adds an amount of nano-dollars to a slot that is still kept. What processes hold of it stays theirs.
CREATE FUNCTION correct_limit(corrected text, at bigint, delta bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE limit_counters c
     SET granted = c.granted || jsonb_build_object(at::text, greatest((c.granted ->> at::text)::bigint + delta,
           coalesce((SELECT sum(l.amount) FROM limit_leases l WHERE l.counter = c.id AND l.slot = at), 0)::bigint)),
         last_updated_at = clock_timestamp()
   WHERE c.id = corrected AND c.granted ? at::text;
  IF FOUND THEN
    PERFORM judge_limit(corrected);
  END IF;
END $$;

CREATE FUNCTION follow_cost_adjustment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  held record;
BEGIN
  FOR held IN
    SELECT c.id, (limit_period(NEW.log_created_at, c.period, c.days, c.anchor)).slot AS slot FROM limit_counters c
     WHERE c.organisation_id = NEW.organisation_id AND c.counts = 'cost' AND c.owner_kind <> 'policy' AND c.counted_from <= limit_ms(NEW.log_created_at)
       AND c.owner_id IN (SELECT limit_owners(NEW.api_key_id, NEW.workspace_id, NEW.provider_slug))
     ORDER BY c.id
  LOOP
    PERFORM correct_limit(held.id, held.slot, round(NEW.delta_pico / 1000)::bigint);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER cost_adjustments_budgets AFTER INSERT ON cost_adjustments FOR EACH ROW WHEN (NEW.delta_pico <> 0) EXECUTE FUNCTION follow_cost_adjustment();

-- What budgets have counted in this period beside what the logs of it say, in the units of their counters.
CREATE FUNCTION recount_limits() RETURNS TABLE (counter text, slot bigint, counts text, counted bigint, logged bigint, leased bigint) LANGUAGE plpgsql AS $$
DECLARE
  held limit_counters;
  begun timestamptz;
  now_slot bigint;
BEGIN
  FOR held IN SELECT * FROM limit_counters c WHERE c.owner_id IS NOT NULL AND c.owner_kind <> 'policy' ORDER BY c.id LOOP
    now_slot := (limit_period(clock_timestamp(), held.period, held.days, held.anchor)).slot;
    CONTINUE WHEN NOT held.granted ? now_slot::text;
    CONTINUE WHEN (SELECT t.credit IS NULL AND t.threshold IS NULL FROM limit_terms(held) t);
    begun := CASE held.period WHEN 'monthly' THEN ((coalesce(held.anchor, timestamptz '1970-01-01 00:00:00+00') AT TIME ZONE 'UTC') + make_interval(months => now_slot::integer)) AT TIME ZONE 'UTC'
      ELSE CASE WHEN held.period IS NULL AND held.days IS NULL THEN '-infinity'::timestamptz
        ELSE coalesce(held.anchor, timestamptz '1970-01-05 00:00:00+00') + now_slot * make_interval(hours => 24 * coalesce(held.days, 7)) END END;
    begun := greatest(begun, to_timestamp(held.counted_from / 1000.0), held.begun_at - interval '5 seconds');
    counter := held.id;
    slot := now_slot;
    counts := held.counts;
    counted := limit_spent(held.id, now_slot);
    leased := (held.granted ->> now_slot::text)::bigint - counted;
    IF held.counts = 'cost' THEN
      SELECT ceil((coalesce(sum(l.cost_pico), 0) + coalesce((SELECT sum(a.delta_pico) FROM cost_adjustments a
               WHERE a.organisation_id = held.organisation_id AND a.log_created_at >= begun
                 AND held.owner_id IN (SELECT limit_owners(a.api_key_id, a.workspace_id, a.provider_slug))), 0)) / 1000)::bigint
        INTO logged FROM logs l
       WHERE l.organisation_id = held.organisation_id AND l.created_at >= begun
         AND held.owner_id IN (SELECT limit_owners(l.api_key_id, l.workspace_id, l.provider_slug));
    ELSE
      SELECT coalesce(sum(coalesce(l.total_tokens, coalesce(l.input_tokens, 0) + coalesce(l.output_tokens, 0))), 0)::bigint INTO logged FROM logs l
       WHERE l.organisation_id = held.organisation_id AND l.created_at >= begun
         AND held.owner_id IN (SELECT limit_owners(l.api_key_id, l.workspace_id, l.provider_slug));
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
