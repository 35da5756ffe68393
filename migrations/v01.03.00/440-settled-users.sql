-- phase: expand
-- The users of a day that is over, merged: of each register of a sketch the highest rank alone, in one row for a workspace and one for the whole
-- organisation. Read cell by cell, the users of a month are millions of rows.

CREATE TABLE usage_day_users (
  organisation_id uuid NOT NULL,
  bucket timestamptz NOT NULL,
  workspace_id uuid,
  cells bigint[] NOT NULL
);
CREATE INDEX usage_day_users_place ON usage_day_users (organisation_id, bucket);
CREATE INDEX usage_day_users_bucket ON usage_day_users (bucket);
COMMENT ON TABLE usage_day_users IS 'The cells of usage_user_days, of each register the highest.';
COMMENT ON COLUMN usage_day_users.workspace_id IS 'Null: of the whole organisation.';
ALTER TABLE usage_day_users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON usage_day_users USING (organisation_id = app_organisation() OR app_is_system())
  WITH CHECK (organisation_id = app_organisation() OR app_is_system());

CREATE TABLE usage_settled_user_days (bucket timestamptz PRIMARY KEY);
COMMENT ON TABLE usage_settled_user_days IS 'The days whose users are in usage_day_users, which says what usage_user_days says.';

CREATE OR REPLACE FUNCTION unsettle_usage(day timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gatehouse:usage:' || extract(epoch FROM day), 0));
  DELETE FROM usage_settled_days WHERE bucket = day;
  DELETE FROM usage_settled_user_days WHERE bucket = day;
END $$;

CREATE OR REPLACE FUNCTION begin_settling(day timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Whoever counts a late log of the day has the lock until it is committed, and is seen afterwards.
  PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:usage:' || extract(epoch FROM day), 0));
  DELETE FROM usage_day_latencies WHERE bucket = day;
  DELETE FROM usage_day_users WHERE bucket = day;
  -- The former release settles latencies alone.
  DELETE FROM usage_settled_user_days WHERE bucket = day;
END $$;

CREATE FUNCTION settle_users(day timestamptz) RETURNS void LANGUAGE sql SET work_mem = '64MB' AS $$
  INSERT INTO usage_day_users (organisation_id, bucket, workspace_id, cells)
  SELECT organisation_id, day, workspace_id, array_agg((register << 32) + rank ORDER BY register)
    FROM (SELECT u.organisation_id, u.workspace_id, u.cell >> 32 AS register, max(u.cell & 4294967295) AS rank
            FROM organisations o JOIN usage_user_days u ON u.organisation_id = o.id AND u.bucket = day
           GROUP BY GROUPING SETS ((u.organisation_id, u.workspace_id, u.cell >> 32), (u.organisation_id, u.cell >> 32))) merged
   GROUP BY organisation_id, workspace_id;
  INSERT INTO usage_settled_user_days VALUES (day) ON CONFLICT DO NOTHING;
$$;
