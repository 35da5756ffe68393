-- phase: expand
-- Every table with an organisation_id shows a transaction only its own organisation's rows, or all to the process itself.

DO $$
DECLARE
  business text;
BEGIN
  FOREACH business IN ARRAY ARRAY['organisations', 'data_keys', 'workspaces', 'api_keys', 'audit_logs', 'integrations', 'providers', 'logs', 'log_bodies', 'changes'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', business);
    EXECUTE format('CREATE POLICY tenant ON %I USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system())', business);
  END LOOP;
  FOREACH business IN ARRAY ARRAY['organisations', 'workspaces', 'api_keys', 'integrations', 'providers'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION record_change()', business || '_changes', business);
  END LOOP;
END $$;
