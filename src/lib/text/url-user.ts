/** The fault of a URL that is shown or called as it is, and names a user. */
export const userFault = 'A URL holds no user and no password here.'

/** Returns true unless the text is a URL with a user or a password. */
export function namesNoUser(text: string): boolean {
  const url = URL.parse(text)
  return url === null || url.username + url.password === ''
}
