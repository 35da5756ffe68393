-- phase: expand
-- The URL of a receiver of alerts is often its credential, and is sealed. Until 1.12.0 is finalized it stands readable beside that, since processes of
-- earlier builds know no other column: when one of them changes the URL, the sealed one does not count any more.

ALTER TABLE alert_webhooks ADD COLUMN url_sealed bytea, ALTER COLUMN url DROP NOT NULL;
COMMENT ON COLUMN alert_webhooks.url_sealed IS 'Where events go, sealed. Null: url has it, and a process will seal it.';

CREATE FUNCTION keep_webhook_url() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.url IS DISTINCT FROM OLD.url AND NEW.url_sealed IS NOT DISTINCT FROM OLD.url_sealed THEN NEW.url_sealed := NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_url BEFORE UPDATE ON alert_webhooks FOR EACH ROW EXECUTE FUNCTION keep_webhook_url();
