-- phase: expand
-- Calls of tools have prices, so that budgets in money count them beside calls of models. A tool without a price of its own has that of its
-- server, and without either it is free.

ALTER TABLE mcp_servers ADD COLUMN tool_price numeric(20, 9) CHECK (tool_price >= 0);
COMMENT ON COLUMN mcp_servers.tool_price IS 'US dollars for one call of a tool that has no price of its own; null: it is free.';

ALTER TABLE mcp_server_capabilities ADD COLUMN price numeric(20, 9) CHECK (price >= 0);
COMMENT ON COLUMN mcp_server_capabilities.price IS 'US dollars for one call of the tool; null: that of its server.';
