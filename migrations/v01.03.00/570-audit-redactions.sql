-- phase: expand
-- Secrets that earlier versions wrote into rows of the trail can be taken out: such a row says when and at whose word, and a keyed proof over its
-- new contents stands beside its link, which stays.

ALTER TABLE audit_logs ADD COLUMN redaction jsonb;
COMMENT ON COLUMN audit_logs.redaction IS
  'Null: the row is as it was written. { at, by, proof }: secrets were taken out; HMAC-SHA256, under the pepper of the installation, over the hash of the row before, that of this row, and all columns as they are since.';

CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  redactable CONSTANT text[] := ARRAY['query', 'request_headers', 'request_body', 'before', 'after', 'related', 'error', 'redaction'];
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.redaction IS NOT NULL AND NEW.redaction IS DISTINCT FROM OLD.redaction
    AND to_jsonb(NEW) - redactable = to_jsonb(OLD) - redactable THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of the audit trail are never changed or deleted';
END $$;
