-- phase: expand
-- The log of the exchange in which a provider gave the answer that this one got again from the cache.

ALTER TABLE logs ADD COLUMN cached_log_id uuid;
