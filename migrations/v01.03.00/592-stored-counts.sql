-- phase: expand
-- How many of them an organisation has is counted before one more is stored.

CREATE INDEX config_versions_organisation ON config_versions (organisation_id);
CREATE INDEX prompt_versions_organisation ON prompt_versions (organisation_id);
CREATE INDEX prompt_partial_versions_organisation ON prompt_partial_versions (organisation_id);
CREATE INDEX integration_models_organisation ON integration_models (organisation_id);
CREATE INDEX providers_organisation ON providers (organisation_id) WHERE status <> 'archived';
