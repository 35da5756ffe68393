-- phase: expand
-- The value of a rate-limit policy is a number, not a whole one: 1.5 requests a minute are three in two. The former release reads and
-- writes the column as before.

ALTER TABLE rate_limit_policies ALTER COLUMN value TYPE numeric(25, 9);
