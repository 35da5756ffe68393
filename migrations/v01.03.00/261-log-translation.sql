-- phase: expand
-- What a translation left out of a request, and the error of the provider in its own words.

ALTER TABLE log_bodies ADD COLUMN translation jsonb;
