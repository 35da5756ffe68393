-- phase: expand
-- Servers of MCP name guardrails of their own, which look at the arguments and at the results of calls.

ALTER TABLE mcp_servers
  ADD COLUMN input_guardrails text[] NOT NULL DEFAULT '{}',
  ADD COLUMN output_guardrails text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN mcp_servers.input_guardrails IS 'Slugs or ids; those of the workspace and the organisation run behind them.';
