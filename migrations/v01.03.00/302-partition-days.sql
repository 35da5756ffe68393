-- phase: expand
-- The day of a partition is read from names that have one only. PostgreSQL may look at the name of any table before it looks whose partition
-- it is, and does with many partitions: then no old day was dropped any more.

CREATE FUNCTION partition_day(name text) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN name ~ '_[0-9]{8}$' THEN to_date(right(name, 8), 'YYYYMMDD') END
$$;

CREATE OR REPLACE FUNCTION drop_log_partitions(older_than date) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition record;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('logs'::regclass, 'log_bodies'::regclass) AND partition_day(c.relname) < older_than
  LOOP
    EXECUTE format('DROP TABLE %s', partition.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;

CREATE OR REPLACE FUNCTION drop_answer_partitions() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition record;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'cached_answers'::regclass AND partition_day(c.relname) + 7 <= (now() AT TIME ZONE 'UTC')::date
  LOOP
    EXECUTE format('DROP TABLE %s', partition.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
