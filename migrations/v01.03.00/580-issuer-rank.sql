-- phase: expand
-- Who sets the issuer of an organisation's tokens can make a token for everybody in it: the issuer ranks no higher than they do.

ALTER TABLE organisations ADD COLUMN token_issuer_rank text CHECK (token_issuer_rank IN ('owner', 'organisation-admin', 'admin', 'manager', 'member'));
COMMENT ON COLUMN organisations.token_issuer_rank IS 'The rank of the caller who set settings.jwt: nobody above comes by its tokens; null: of an admin of the organisation.';
-- The issuers that there are go on speaking for everybody.
UPDATE organisations SET token_issuer_rank = 'owner' WHERE settings -> 'jwt' IS NOT NULL;
