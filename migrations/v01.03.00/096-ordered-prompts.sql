-- phase: expand
-- jsonb sorts the keys of objects, and the order of a schema's keys steers what models answer. So a version keeps what it was given a
-- second time, as text. The jsonb columns stay filled for the former release, whose processes read them until the upgrade is finalized;
-- a change of their type would break the statements that these have prepared.

ALTER TABLE prompt_versions ADD COLUMN ordered json;
COMMENT ON COLUMN prompt_versions.ordered IS 'parameters, functions, tools, tool_choice and template_metadata with their keys in order; null: stored by an earlier release.';
