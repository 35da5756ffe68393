-- phase: expand
-- A policy may count requests too, as the budgets of keys, providers and workspaces may.

ALTER TABLE usage_limit_policies DROP CONSTRAINT usage_limit_policies_type_check;
ALTER TABLE usage_limit_policies ADD CONSTRAINT usage_limit_policies_type_check CHECK (type IN ('cost', 'tokens', 'requests')) NOT VALID;
ALTER TABLE usage_limit_policies VALIDATE CONSTRAINT usage_limit_policies_type_check;
