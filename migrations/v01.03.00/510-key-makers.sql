-- phase: expand
-- A key does no more than the person at whose word it exists may do: neither through keys that this key made, nor after that person's role fell.
-- `created_by` names a person or a key, and a key is not asked again once it is archived. So the person stands in the row.

ALTER TABLE api_keys ADD COLUMN maker_id uuid, ADD COLUMN previous_maker_id uuid;
COMMENT ON COLUMN api_keys.maker_id IS 'The person who made the key or gave it its present secret, also by another key; null: none is known, such as for the keys of the first start.';
COMMENT ON COLUMN api_keys.previous_maker_id IS 'The maker of the secret before the last rotation.';
CREATE INDEX api_keys_maker ON api_keys (maker_id) WHERE maker_id IS NOT NULL;

-- Keys of persons who have left serve on as they did.
WITH RECURSIVE made AS (
  SELECT k.id, u.id AS maker_id
    FROM api_keys k JOIN users u ON u.id = k.created_by AND u.organisation_id = k.organisation_id AND u.status = 'active'
  UNION
  SELECT k.id, m.maker_id FROM api_keys k JOIN made m ON m.id = k.created_by
)
UPDATE api_keys k SET maker_id = m.maker_id, previous_maker_id = m.maker_id FROM made m WHERE m.id = k.id;

-- The former release writes rows without a maker until the upgrade is finalized.
CREATE FUNCTION note_key_maker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.maker_id IS NULL AND NEW.created_by IS NOT NULL THEN
    NEW.maker_id := coalesce(
      (SELECT u.id FROM users u WHERE u.id = NEW.created_by AND u.organisation_id = NEW.organisation_id),
      (SELECT k.maker_id FROM api_keys k WHERE k.id = NEW.created_by AND k.organisation_id = NEW.organisation_id));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER api_keys_maker BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION note_key_maker();
