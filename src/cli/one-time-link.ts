/** A browser opens the link; without one its token is sent by hand. */
export const howToUse = 'Open it in a browser, or send what stands behind #token= by POST /auth/setup, as docs/guide/sign-in.md tells.'
