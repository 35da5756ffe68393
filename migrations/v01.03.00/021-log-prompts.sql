-- phase: expand
-- Which prompt made a request, and which version of it: so that logs can be read, and later counted, by prompt.

ALTER TABLE logs ADD COLUMN prompt_id uuid, ADD COLUMN prompt_version_id uuid, ADD COLUMN prompt_slug text;
