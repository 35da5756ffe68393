-- phase: expand
-- An upgrade that passes over a halt, a way back to an earlier release, and a level that is raised beside older processes are
-- decisions of somebody: whoever looks into the history later must find why.

ALTER TABLE release_history ADD COLUMN reason text;
COMMENT ON COLUMN release_history.reason IS 'Why what the guards refuse was done all the same, in the words of whoever did it.';
