-- phase: expand
-- What a policy counts changes with every request. Only a reset concerns the processes that hold policies in memory.

DROP TRIGGER usage_limit_policy_entities_changes ON usage_limit_policy_entities;
CREATE TRIGGER usage_limit_policy_entities_changes AFTER UPDATE ON usage_limit_policy_entities
  FOR EACH ROW WHEN (OLD.last_reset_at IS DISTINCT FROM NEW.last_reset_at) EXECUTE FUNCTION record_change();

-- Amounts are decimals before 1.11.0, whole numbers after it.
CREATE FUNCTION policy_amount(policy jsonb, name text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce((policy ->> (name || '_pico'))::numeric / 1000000000000, (policy ->> name)::numeric)
$$;

CREATE FUNCTION rearm_policy() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  before jsonb := to_jsonb(OLD);
  after jsonb := to_jsonb(NEW);
BEGIN
  IF (policy_amount(before, 'credit_limit'), policy_amount(before, 'alert_threshold'), OLD.periodic_reset, OLD.periodic_reset_days, OLD.next_usage_reset_at)
     IS NOT DISTINCT FROM
     (policy_amount(after, 'credit_limit'), policy_amount(after, 'alert_threshold'), NEW.periodic_reset, NEW.periodic_reset_days, NEW.next_usage_reset_at) THEN
    RETURN NULL;
  END IF;
  UPDATE usage_limit_policy_entities e
     SET status = 'active',
         is_exhausted_alerts_sent = e.is_exhausted_alerts_sent AND policy_amount(after, 'credit_limit') <= policy_amount(before, 'credit_limit'),
         is_threshold_alerts_sent = e.is_threshold_alerts_sent AND policy_amount(after, 'credit_limit') <= policy_amount(before, 'credit_limit')
           AND coalesce(policy_amount(after, 'alert_threshold'), 'infinity') <= coalesce(policy_amount(before, 'alert_threshold'), 'infinity')
   WHERE e.policy_id = NEW.id AND (e.status = 'exhausted' OR e.is_threshold_alerts_sent OR e.is_exhausted_alerts_sent);
  PERFORM rearm_limit(NEW.id, policy_amount(before, 'credit_limit'), policy_amount(after, 'credit_limit'),
    policy_amount(before, 'alert_threshold'), policy_amount(after, 'alert_threshold'));
  RETURN NULL;
END $$;
CREATE TRIGGER usage_limit_policies_rearm AFTER UPDATE ON usage_limit_policies FOR EACH ROW EXECUTE FUNCTION rearm_policy();
