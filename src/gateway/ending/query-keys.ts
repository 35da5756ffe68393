/** The names under which queries carry credentials, as other tools list them (OpenTelemetry, Sentry, Datadog), and cloud signatures. */
const secretParameter = new RegExp(
  [
    /token(?!s$|s[-_.])|secret|passw|pass[-_.]?phrase|pwd|credential|signature|bearer|cookie|jwt|saml|csrf|xsrf|assertion/,
    /authoriz|authentic|hmac|session/,
    /(?:api|app|access|account|auth|client|consumer|license|master|private|public|shared|sign(?:ing)?|subscription|user)[-_.]?key/,
    /(?:^|[-_.[])(?:key|sig|sign|signed|sas|sso|pass|pw|pin|otp|totp|mfa|sid|sessid|auth|creds?|code|ticket)\]?$/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** A path as it may be logged: some providers take their key in the query. */
export function withoutKeys(path: string): string {
  const at = path.indexOf('?')
  return at === -1
    ? path
    : path.slice(0, at + 1) +
        path
          .slice(at + 1)
          .split('&')
          .map(withoutKey)
          .join('&')
}

function withoutKey(parameter: string): string {
  const at = parameter.indexOf('=')
  return at !== -1 && isSecret(parameter.slice(0, at)) ? `${parameter.slice(0, at)}=[removed]` : parameter
}

function isSecret(name: string): boolean {
  try {
    return secretParameter.test(name.includes('%') ? decodeURIComponent(name) : name)
  } catch {
    return true
  }
}

/** `https://user:password@host` holds a credential, and so does the same without a scheme. */
export const withoutUser = (url: string): string => url.replace(/^([a-z][a-z\d+.-]*:\/\/)?[^/?#]*@/i, '$1[removed]@')

/** A scheme has few letters, so that a text without any URL is looked through once. */
const urlInText = /\b[a-z][a-z\d+.-]{0,19}:\/\/[^\s"'<>`\\]+/gi

/** Returns a text with the credentials taken out of each URL in it, and out of a text that is a path with a query. */
export function withoutUrlCredentials(text: string): string {
  if (text.startsWith('/')) return withoutKeys(text)
  return text.includes('://') ? text.replaceAll(urlInText, (url) => withoutUser(withoutKeys(url))) : text
}

/** Returns a query, which has no question mark, without its credentials. */
export const withoutQueryKeys = (query: string): string => withoutKeys(`?${query}`).slice(1)
