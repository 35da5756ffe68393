-- phase: expand
-- The owner of a secret reference is stored: the workspace whose key made it, or the organisation. That one workspace alone may use a reference is
-- no sign that it is its own, since an organisation shares references with single workspaces.

ALTER TABLE secret_references ADD COLUMN owner_workspace_id uuid REFERENCES workspaces (id);
COMMENT ON COLUMN secret_references.owner_workspace_id IS 'The workspace that made it, and changes it while no other uses it; null: the organisation.';

-- A maker who is no key of that workspace acted for the organisation, or cannot be told: then the organisation decides.
UPDATE secret_references r SET owner_workspace_id = k.workspace_id
  FROM api_keys k
 WHERE k.id = r.created_by AND k.organisation_id = r.organisation_id AND k.workspace_id IS NOT NULL
   AND NOT r.allow_all_workspaces AND r.allowed_workspaces = ARRAY[k.workspace_id];

-- The former release writes rows without an owner until the upgrade is finalized.
CREATE FUNCTION note_reference_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.owner_workspace_id IS NULL AND NOT NEW.allow_all_workspaces THEN
    NEW.owner_workspace_id := (SELECT k.workspace_id FROM api_keys k
      WHERE k.id = NEW.created_by AND k.organisation_id = NEW.organisation_id AND NEW.allowed_workspaces = ARRAY[k.workspace_id]);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER secret_references_owner BEFORE INSERT ON secret_references FOR EACH ROW EXECUTE FUNCTION note_reference_owner();
