-- phase: contract
-- Every row has its whole amounts, and no process is left that reads the decimals.

DROP TRIGGER keep_amounts ON usage_limit_policies;
DROP TRIGGER keep_credit_limit ON usage_limit_policies;
DROP TRIGGER keep_credit_limit_pico ON usage_limit_policies;
DROP TRIGGER keep_alert_threshold ON usage_limit_policies;
DROP TRIGGER keep_alert_threshold_pico ON usage_limit_policies;
DROP FUNCTION keep_policy_amounts();
DROP TRIGGER keep_amounts ON usage_limit_policy_entities;
DROP TRIGGER keep_current_usage ON usage_limit_policy_entities;
DROP TRIGGER keep_current_usage_pico ON usage_limit_policy_entities;
DROP FUNCTION keep_usage_amounts();
ALTER TABLE usage_limit_policies
  ALTER COLUMN credit_limit_pico SET NOT NULL,
  DROP COLUMN credit_limit,
  DROP COLUMN alert_threshold;
ALTER TABLE usage_limit_policy_entities
  ALTER COLUMN current_usage_pico SET DEFAULT 0,
  ALTER COLUMN current_usage_pico SET NOT NULL,
  DROP COLUMN current_usage;
COMMENT ON COLUMN usage_limit_policies.credit_limit_pico IS '10^-12 of a US dollar or of a token.';
