/** This build has no page for the link: its token is sent by hand. */
export const howToUse = 'Send what stands behind #token= by POST /auth/setup, as docs/guide/sign-in.md tells.'
