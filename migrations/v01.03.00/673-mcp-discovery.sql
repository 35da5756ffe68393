-- phase: expand
-- A server with many tools may show two in their place, which find and call them, so that they do not fill the context of a model.

ALTER TABLE mcp_servers ADD COLUMN discovery text NOT NULL DEFAULT 'full' CHECK (discovery IN ('full', 'search'));
