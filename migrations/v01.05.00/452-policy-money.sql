-- phase: expand
-- A policy in US dollars says what becomes of requests whose cost is not known before they are sent, as the budgets of keys, providers and
-- workspaces do. Null: they are refused when they have no price, and expected to have as much output as is usual.

ALTER TABLE usage_limit_policies
  ADD COLUMN on_unpriced text CHECK (on_unpriced IN ('deny', 'allow')),
  ADD COLUMN output_policy text CHECK (output_policy IN ('typical', 'strict', 'inject'));
