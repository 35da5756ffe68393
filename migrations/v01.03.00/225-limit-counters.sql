-- phase: expand
-- The counters of rate limits and usage limits. Processes take slices of them and count in memory: what is granted here is what was used
-- and what a process may still use, so that all processes together never pass a limit.

CREATE TABLE limit_counters (
  id text PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  granted jsonb NOT NULL DEFAULT '{}',
  last_updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN limit_counters.id IS 'Kind and id of what is limited, then what is counted.';
COMMENT ON COLUMN limit_counters.granted IS 'Amounts by slot: a part of the sliding window of a rate limit, or the period of a usage limit.';
CREATE INDEX limit_counters_organisation ON limit_counters (organisation_id);

ALTER TABLE limit_counters ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON limit_counters USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());

-- The period of a usage limit at a moment, in UTC, and its end; null when it never ends.
CREATE FUNCTION limit_period(moment timestamptz, period text, days integer, anchor timestamptz, OUT slot bigint, OUT ends timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  length interval;
  begun timestamptz;
  months integer;
BEGIN
  IF period = 'monthly' THEN
    begun := coalesce(anchor, timestamptz '1970-01-01 00:00:00+00');
    months := (extract(year FROM moment AT TIME ZONE 'UTC') - extract(year FROM begun AT TIME ZONE 'UTC')) * 12
            + extract(month FROM moment AT TIME ZONE 'UTC') - extract(month FROM begun AT TIME ZONE 'UTC');
    IF ((begun AT TIME ZONE 'UTC') + make_interval(months => months)) AT TIME ZONE 'UTC' > moment THEN
      months := months - 1;
    END IF;
    slot := months;
    ends := ((begun AT TIME ZONE 'UTC') + make_interval(months => months + 1)) AT TIME ZONE 'UTC';
  ELSIF period = 'weekly' OR days IS NOT NULL THEN
    -- 5 January 1970 was a Monday.
    begun := coalesce(anchor, timestamptz '1970-01-05 00:00:00+00');
    length := make_interval(hours => 24 * coalesce(days, 7));
    slot := floor(extract(epoch FROM moment - begun) / extract(epoch FROM length));
    ends := begun + slot * length;
    ends := ends + length;
  ELSE
    slot := 0;
    ends := NULL;
  END IF;
END $$;

-- Grants a slice: what requests wait for, and more while much is left. The clock is the database's, so that those of processes do not matter.
CREATE FUNCTION take_limit(
  counter text, organisation uuid, most bigint, needed bigint, queued bigint, wanted bigint,
  slot_ms bigint, slots integer, period text, days integer, anchor timestamptz,
  OUT granted float8, OUT slot float8, OUT used float8, OUT slot_left_ms float8, OUT opens_ms float8
) LANGUAGE plpgsql AS $$
DECLARE
  held jsonb;
  moment timestamptz;
  now_ms float8;
  ends timestamptz;
  room bigint;
  freed bigint;
  part record;
BEGIN
  INSERT INTO limit_counters (id, organisation_id) VALUES (counter, organisation) ON CONFLICT (id) DO NOTHING;
  SELECT c.granted INTO held FROM limit_counters c WHERE c.id = counter FOR UPDATE;
  moment := clock_timestamp();
  now_ms := extract(epoch FROM moment) * 1000;
  IF slot_ms IS NULL THEN
    SELECT p.slot, p.ends INTO slot, ends FROM limit_period(moment, period, days, anchor) p;
    slots := 0;
    slot_left_ms := extract(epoch FROM ends - moment) * 1000;
  ELSE
    slot := floor(now_ms / slot_ms);
    slot_left_ms := (slot + 1) * slot_ms - now_ms;
  END IF;
  -- A window that ends now reaches into one slot more than it is long.
  SELECT coalesce(jsonb_object_agg(key, value), '{}'), coalesce(sum(value::text::bigint), 0) INTO held, used
    FROM jsonb_each(held) WHERE key::bigint >= slot - slots;
  room := most - used;
  granted := CASE WHEN room < needed THEN 0 ELSE least(room, greatest(needed, queued, least(wanted, room / 8))) END;
  IF granted > 0 THEN
    held := held || jsonb_build_object(slot::bigint::text, coalesce((held ->> slot::bigint::text)::bigint, 0) + granted::bigint);
  ELSIF slot_ms IS NULL THEN
    opens_ms := slot_left_ms;
  ELSE
    freed := room;
    FOR part IN SELECT key::bigint AS number, value::text::bigint AS amount FROM jsonb_each(held) ORDER BY key::bigint LOOP
      freed := freed + part.amount;
      opens_ms := greatest((part.number + slots + 1) * slot_ms - now_ms, 1);
      EXIT WHEN freed >= needed;
    END LOOP;
    IF freed < needed THEN
      opens_ms := NULL;
    END IF;
  END IF;
  UPDATE limit_counters c SET granted = held, last_updated_at = moment WHERE c.id = counter;
  used := used + granted;
END $$;

-- Gives back what a slice was not used for; an amount below 0 is what was used beyond it. A slot that is gone takes nothing.
CREATE FUNCTION give_back_limit(counter text, slot text, amount bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE limit_counters c
     SET granted = c.granted || jsonb_build_object(slot, greatest((c.granted ->> slot)::bigint - amount, 0)), last_updated_at = now()
   WHERE c.id = counter AND c.granted ? slot
$$;

ALTER TABLE api_keys ADD COLUMN usage_reset_at timestamptz;
ALTER TABLE providers ADD COLUMN usage_reset_at timestamptz;
COMMENT ON COLUMN api_keys.usage_reset_at IS 'What was used before it does not count against the limits.';
COMMENT ON COLUMN providers.usage_reset_at IS 'What was used before it does not count against the limits.';
