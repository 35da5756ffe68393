-- phase: expand
-- What says who a person is ranks no higher than its maker: tokens of SCIM, identity providers and invitations.

ALTER TABLE scim_tokens ADD COLUMN rank text CHECK (rank IN ('owner', 'organisation-admin', 'admin', 'manager', 'member')), ADD COLUMN maker_id uuid;
COMMENT ON COLUMN scim_tokens.rank IS 'The rank of the caller who made the token or rotated it last; null: as an admin of the organisation.';
COMMENT ON COLUMN scim_tokens.maker_id IS 'The person at whose word that was done, above whose present role the token never ranks; null: none is known.';
UPDATE scim_tokens t SET rank = CASE u.role WHEN 'owner' THEN 'owner' ELSE 'organisation-admin' END, maker_id = u.id
  FROM users u WHERE u.id = t.created_by AND u.organisation_id = t.organisation_id AND u.status = 'active';
UPDATE scim_tokens t SET maker_id = k.maker_id
  FROM api_keys k WHERE k.id = t.created_by AND k.organisation_id = t.organisation_id;

ALTER TABLE identity_providers ADD COLUMN rank text CHECK (rank IN ('owner', 'organisation-admin', 'admin', 'manager', 'member'));
COMMENT ON COLUMN identity_providers.rank IS 'The rank of the caller who set what it says of people: nobody above signs in by it; null: of an admin of the organisation.';
-- People go on signing in by the providers that there are.
UPDATE identity_providers SET rank = 'owner';

ALTER TABLE invites ADD COLUMN maker_id uuid;
COMMENT ON COLUMN invites.maker_id IS 'The person at whose word it was made: it gives no role above theirs; null: none is known.';
UPDATE invites SET maker_id = invited_by;
