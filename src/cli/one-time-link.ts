/** The same for a link to a new password. */
export const howToUsePassword =
  'Open it in a browser, or send what stands behind #token= by PUT /auth/password, as docs/guide/sign-in.md tells.'

/** A browser opens the link; without one its token is sent by hand. */
export const howToUse = 'Open it in a browser, or send the text behind #token= by POST /auth/setup, see docs/guide/sign-in.md.'
