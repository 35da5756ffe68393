-- phase: expand
-- A process of an earlier build that still runs stores ids of configs as they were sent, also after 661 has put those that there were into small letters.
-- So the database does it from now on, whichever process writes.

CREATE FUNCTION small_reference() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.defaults := jsonb_set(NEW.defaults, ARRAY[TG_ARGV[0]], to_jsonb(lower(NEW.defaults ->> TG_ARGV[0])));
  RETURN NEW;
END $$;

CREATE TRIGGER small_reference BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW
  WHEN (NEW.defaults ->> 'config_id' ~ '[A-F]' AND NEW.defaults ->> 'config_id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$')
  EXECUTE FUNCTION small_reference('config_id');
CREATE TRIGGER small_reference BEFORE INSERT OR UPDATE ON workspaces FOR EACH ROW
  WHEN (NEW.defaults ->> 'user_api_key_config' ~ '[A-F]' AND NEW.defaults ->> 'user_api_key_config' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$')
  EXECUTE FUNCTION small_reference('user_api_key_config');

UPDATE api_keys SET defaults = defaults
 WHERE defaults ->> 'config_id' ~ '[A-F]' AND defaults ->> 'config_id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
UPDATE workspaces SET defaults = defaults
 WHERE defaults ->> 'user_api_key_config' ~ '[A-F]' AND defaults ->> 'user_api_key_config' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
