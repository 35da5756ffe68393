/** A browser opens the link; without one its token is sent by hand. */
export const howToUse = 'Open it in a browser, or send the text behind #token= by POST /auth/setup, see docs/guide/sign-in.md.'
