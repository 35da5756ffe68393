-- phase: expand
-- What an exchange costs: the amount in whole pico-US-dollars (null: the price is not known), its state, the digest of the price list, and
-- the lines that it is made of. `cost_nano_usd` was never written.

ALTER TABLE logs ADD COLUMN cost_pico numeric(30, 0);
ALTER TABLE logs ADD COLUMN cost_state text;
ALTER TABLE logs ADD COLUMN price_catalogue text;
ALTER TABLE log_bodies ADD COLUMN cost jsonb;
