-- phase: expand
-- Limits and usages become whole numbers: 10^-12 of a US dollar or of a token, so that sums are exact and no price is rounded. Processes of
-- releases before 1.11.0 go on with the decimal columns; whichever column a statement writes, a trigger writes the other one.

ALTER TABLE usage_limit_policies
  ADD COLUMN credit_limit_pico numeric(30, 0) CHECK (credit_limit_pico >= 0),
  ADD COLUMN alert_threshold_pico numeric(30, 0) CHECK (alert_threshold_pico >= 0);
ALTER TABLE usage_limit_policy_entities
  ADD COLUMN current_usage_pico numeric(30, 0);
COMMENT ON COLUMN usage_limit_policies.credit_limit_pico IS '10^-12 of a US dollar or of a token; null: not filled yet, credit_limit says it.';

CREATE FUNCTION keep_policy_amounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.credit_limit := coalesce(NEW.credit_limit, NEW.credit_limit_pico * 1e-12);
    NEW.alert_threshold := coalesce(NEW.alert_threshold, NEW.alert_threshold_pico * 1e-12);
    NEW.credit_limit_pico := coalesce(NEW.credit_limit_pico, NEW.credit_limit * 1e12);
    NEW.alert_threshold_pico := coalesce(NEW.alert_threshold_pico, NEW.alert_threshold * 1e12);
    RETURN NEW;
  END IF;
  CASE TG_ARGV[0]
    WHEN 'credit_limit' THEN NEW.credit_limit_pico := NEW.credit_limit * 1e12;
    WHEN 'credit_limit_pico' THEN NEW.credit_limit := NEW.credit_limit_pico * 1e-12;
    WHEN 'alert_threshold' THEN NEW.alert_threshold_pico := NEW.alert_threshold * 1e12;
    WHEN 'alert_threshold_pico' THEN NEW.alert_threshold := NEW.alert_threshold_pico * 1e-12;
  END CASE;
  RETURN NEW;
END $$;

-- One trigger for each column that a statement may name: what it does not name tells nothing, least of all a null that is not filled yet.
CREATE TRIGGER keep_amounts BEFORE INSERT ON usage_limit_policies
  FOR EACH ROW EXECUTE FUNCTION keep_policy_amounts();
CREATE TRIGGER keep_credit_limit BEFORE UPDATE OF credit_limit ON usage_limit_policies
  FOR EACH ROW EXECUTE FUNCTION keep_policy_amounts('credit_limit');
CREATE TRIGGER keep_credit_limit_pico BEFORE UPDATE OF credit_limit_pico ON usage_limit_policies
  FOR EACH ROW EXECUTE FUNCTION keep_policy_amounts('credit_limit_pico');
CREATE TRIGGER keep_alert_threshold BEFORE UPDATE OF alert_threshold ON usage_limit_policies
  FOR EACH ROW EXECUTE FUNCTION keep_policy_amounts('alert_threshold');
CREATE TRIGGER keep_alert_threshold_pico BEFORE UPDATE OF alert_threshold_pico ON usage_limit_policies
  FOR EACH ROW EXECUTE FUNCTION keep_policy_amounts('alert_threshold_pico');

CREATE FUNCTION keep_usage_amounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'current_usage' OR NEW.current_usage_pico IS NULL THEN
    NEW.current_usage_pico := NEW.current_usage * 1e12;
  ELSE
    NEW.current_usage := NEW.current_usage_pico * 1e-12;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_amounts BEFORE INSERT ON usage_limit_policy_entities
  FOR EACH ROW EXECUTE FUNCTION keep_usage_amounts();
CREATE TRIGGER keep_current_usage BEFORE UPDATE OF current_usage ON usage_limit_policy_entities
  FOR EACH ROW EXECUTE FUNCTION keep_usage_amounts('current_usage');
CREATE TRIGGER keep_current_usage_pico BEFORE UPDATE OF current_usage_pico ON usage_limit_policy_entities
  FOR EACH ROW EXECUTE FUNCTION keep_usage_amounts('current_usage_pico');
