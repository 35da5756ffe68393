-- phase: expand
-- References to configs are compared as texts, with ids in lower case: one that was stored in upper case was found by requests, and not by the checks
-- of changes. Guardrails were never stored so.

UPDATE api_keys SET defaults = jsonb_set(defaults, '{config_id}', to_jsonb(lower(defaults ->> 'config_id')))
 WHERE defaults ->> 'config_id' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' AND defaults ->> 'config_id' ~ '[A-F]';

UPDATE workspaces SET defaults = jsonb_set(defaults, '{user_api_key_config}', to_jsonb(lower(defaults ->> 'user_api_key_config')))
 WHERE defaults ->> 'user_api_key_config' ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' AND defaults ->> 'user_api_key_config' ~ '[A-F]';
