-- phase: expand
-- How many rows an export was expected to have when it was started, and the digest of its file.

ALTER TABLE log_exports
  ADD COLUMN expected_rows bigint,
  ADD COLUMN sha256 text;
COMMENT ON COLUMN log_exports.expected_rows IS 'Estimated when it was started; null: nobody could tell.';
COMMENT ON COLUMN log_exports.sha256 IS 'Of the whole file, in hexadecimal digits; null: there is no file yet, or an earlier release made a part of it.';
