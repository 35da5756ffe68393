-- phase: expand
-- Requests and costs of each user whom the metadata of requests name, by day: of each workspace and of the whole organisation. They are counted in
-- the transaction that inserts the logs, and tell names, so they go with the logs: when a person is erased, and when logs are deleted.

ALTER TABLE usage_state ADD COLUMN users_from timestamptz;
UPDATE usage_state SET users_from = CASE WHEN EXISTS (SELECT FROM logs) THEN date_trunc('day', now(), 'UTC') + interval '1 day' ELSE '-infinity' END;
ALTER TABLE usage_state ALTER COLUMN users_from SET NOT NULL;
COMMENT ON COLUMN usage_state.users_from IS 'usage_user_sums hold every log from then on, and no other.';

CREATE TABLE usage_user_sums (
  organisation_id uuid NOT NULL,
  bucket timestamptz NOT NULL,
  place uuid NOT NULL,
  key uuid NOT NULL,
  name text NOT NULL,
  requests bigint NOT NULL,
  cost_pico numeric NOT NULL,
  PRIMARY KEY (organisation_id, bucket, place, key)
) WITH (fillfactor = 80);
COMMENT ON COLUMN usage_user_sums.bucket IS 'The begin of the day, UTC.';
COMMENT ON COLUMN usage_user_sums.place IS 'A workspace; all zeros: none; all ones: the whole organisation.';
COMMENT ON COLUMN usage_user_sums.key IS 'Stands for the name, which can be longer than an index takes.';
COMMENT ON COLUMN usage_user_sums.cost_pico IS 'Pico-US-dollars, adjustments included.';
ALTER TABLE usage_user_sums SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE usage_user_sums ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON usage_user_sums USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
CREATE INDEX usage_user_sums_bucket ON usage_user_sums (bucket);

CREATE FUNCTION roll_up_users() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  since timestamptz := (SELECT users_from FROM usage_state);
BEGIN
  INSERT INTO usage_user_sums AS u (organisation_id, bucket, place, key, name, requests, cost_pico)
  SELECT organisation_id, bucket, CASE WHEN whole = 1 THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE coalesce(workspace_id, '00000000-0000-0000-0000-000000000000') END::uuid AS place,
         md5(name)::uuid AS key, name, requests, cost
    FROM (SELECT organisation_id, date_trunc('day', created_at, 'UTC') AS bucket, workspace_id, metadata ->> '_user' AS name, count(*) AS requests,
                 coalesce(sum(cost_pico), 0) AS cost, grouping(workspace_id) AS whole
            FROM inserted WHERE created_at >= since AND metadata ->> '_user' IS NOT NULL
           GROUP BY GROUPING SETS ((organisation_id, bucket, workspace_id, name), (organisation_id, bucket, name))) sums
   ORDER BY organisation_id, bucket, place, key
  ON CONFLICT (organisation_id, bucket, place, key) DO UPDATE SET requests = u.requests + excluded.requests, cost_pico = u.cost_pico + excluded.cost_pico;
  RETURN NULL;
END $$;
CREATE TRIGGER logs_users AFTER INSERT ON logs REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION roll_up_users();

CREATE FUNCTION follow_user_adjustment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE usage_user_sums u SET cost_pico = u.cost_pico + NEW.delta_pico FROM logs l
   WHERE l.created_at >= (SELECT users_from FROM usage_state) AND l.created_at = NEW.log_created_at AND l.id = NEW.log_id AND l.organisation_id = NEW.organisation_id
     AND u.organisation_id = l.organisation_id AND u.bucket = date_trunc('day', l.created_at, 'UTC') AND u.key = md5(l.metadata ->> '_user')::uuid
     AND u.place IN (coalesce(l.workspace_id, '00000000-0000-0000-0000-000000000000'), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  RETURN NULL;
END $$;
CREATE TRIGGER cost_adjustments_users AFTER INSERT ON cost_adjustments FOR EACH ROW WHEN (NEW.delta_pico <> 0) EXECUTE FUNCTION follow_user_adjustment();

-- Takes logs out of the sums that are about to be deleted, or to lose their metadata. All are of one organisation and of a range of time.
CREATE FUNCTION forget_users_of_logs(organisation uuid, ids uuid[], first timestamptz, last timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  left_over record;
BEGIN
  FOR left_over IN
    UPDATE usage_user_sums u SET requests = u.requests - s.requests, cost_pico = u.cost_pico - s.cost
      FROM (SELECT date_trunc('day', l.created_at, 'UTC') AS bucket, l.workspace_id, l.metadata ->> '_user' AS name, count(*) AS requests, grouping(l.workspace_id) AS whole,
                   sum(coalesce(l.cost_pico, 0) + coalesce((SELECT sum(a.delta_pico) FROM cost_adjustments a WHERE a.log_id = l.id AND a.organisation_id = l.organisation_id), 0)) AS cost
              FROM logs l
             WHERE l.organisation_id = organisation AND l.created_at BETWEEN first AND last AND l.created_at >= (SELECT users_from FROM usage_state)
               AND l.id = ANY (ids) AND l.metadata ->> '_user' IS NOT NULL
             GROUP BY GROUPING SETS ((bucket, l.workspace_id, name), (bucket, name))) s
     WHERE u.organisation_id = organisation AND u.bucket = s.bucket AND u.key = md5(s.name)::uuid
       AND u.place = CASE WHEN s.whole = 1 THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE coalesce(s.workspace_id, '00000000-0000-0000-0000-000000000000') END::uuid
    RETURNING u.bucket, u.place, u.key, u.requests
  LOOP
    IF left_over.requests <= 0 THEN
      DELETE FROM usage_user_sums u WHERE u.organisation_id = organisation AND u.bucket = left_over.bucket AND u.place = left_over.place AND u.key = left_over.key;
    END IF;
  END LOOP;
END $$;
