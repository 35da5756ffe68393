-- phase: expand
-- What a process held of a budget when it died stays spent until its last logs are here: a provider may have charged it. Then what the logs say is
-- spent, and the rest is free.

CREATE TABLE limit_doubts (
  counter text NOT NULL REFERENCES limit_counters (id) ON DELETE CASCADE,
  slot bigint NOT NULL,
  process uuid NOT NULL,
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  amount bigint NOT NULL,
  batch bigint NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  resolved_at timestamptz,
  PRIMARY KEY (counter, slot, process)
);
CREATE INDEX limit_doubts_organisation ON limit_doubts (organisation_id);
COMMENT ON TABLE limit_doubts IS 'Parts of budgets that died with their process, for a day: late logs of it still count.';
COMMENT ON COLUMN limit_doubts.amount IS 'As much as is counted as spent for it now.';
COMMENT ON COLUMN limit_doubts.batch IS 'The last settlements of the process: its logs name the one that was to carry them.';
ALTER TABLE limit_doubts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON limit_doubts USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
COMMENT ON COLUMN logs.budgets IS 'A list of [attempt, counter, slot, amount, mark]; amounts of costs are texts of pico-US-dollars, marks name the process (8 digits) and its settlements. Null: no budget applied.';

-- Takes what processes held that live no more: of a rate limit it is free, of a budget it is in doubt. The counter's row is locked.
CREATE OR REPLACE FUNCTION reclaim_leases(reclaimed text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part record;
  held limit_counters;
BEGIN
  SELECT * INTO held FROM limit_counters c WHERE c.id = reclaimed;
  FOR part IN
    DELETE FROM limit_leases l WHERE l.counter = reclaimed
       AND NOT EXISTS (SELECT FROM limit_processes p WHERE p.id = l.process AND p.lives_until > clock_timestamp())
    RETURNING l.slot, l.amount, l.process
  LOOP
    IF held.owner_id IS NULL THEN
      UPDATE limit_counters c
         SET granted = c.granted || jsonb_build_object(part.slot::text, greatest((c.granted ->> part.slot::text)::bigint - part.amount, 0))
       WHERE c.id = reclaimed AND c.granted ? part.slot::text;
    ELSE
      INSERT INTO limit_doubts AS d (counter, slot, process, organisation_id, amount, batch)
      VALUES (reclaimed, part.slot, part.process, held.organisation_id, part.amount, coalesce((SELECT p.batch FROM limit_processes p WHERE p.id = part.process), 0))
      ON CONFLICT (counter, slot, process) DO UPDATE SET amount = d.amount + EXCLUDED.amount, batch = EXCLUDED.batch, since = clock_timestamp(), resolved_at = NULL;
    END IF;
  END LOOP;
END $$;

-- Sets what is in doubt for some time to what the logs of the dead process say that it used and had not settled. `later`: of doubts that were resolved once.
CREATE FUNCTION resolve_doubts(waits interval, later boolean) RETURNS integer LANGUAGE plpgsql AS $$
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
    SELECT d.counter, d.slot, d.process, d.amount, coalesce((
             SELECT CASE c.counts WHEN 'cost' THEN ceil(sum(u.amount) / 1000) ELSE sum(u.amount) END
               FROM used u WHERE u.counter = d.counter AND u.slot = d.slot AND u.short = d.short AND u.batch > d.settled), 0)::bigint AS unsettled
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
