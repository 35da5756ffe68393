-- phase: contract
-- No process is left that reads the URL of a receiver of alerts anywhere but where it is sealed. One that was written readable after all stays until it
-- is sealed, and no longer.

DROP TRIGGER keep_url ON alert_webhooks;
UPDATE alert_webhooks SET url = NULL WHERE url_sealed IS NOT NULL OR status = 'archived';

CREATE OR REPLACE FUNCTION keep_webhook_url() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.url IS NOT NULL AND NEW.url IS DISTINCT FROM OLD.url AND NEW.url_sealed IS NOT DISTINCT FROM OLD.url_sealed THEN
    NEW.url_sealed := NULL;
  ELSIF NEW.url_sealed IS NOT NULL THEN
    NEW.url := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_url BEFORE INSERT OR UPDATE ON alert_webhooks FOR EACH ROW EXECUTE FUNCTION keep_webhook_url();
COMMENT ON COLUMN alert_webhooks.url IS 'Null, or a URL that is not sealed yet.';
