/** Returns the token of `Bearer <token>`, in any case of the scheme; undefined for other schemes. */
export function bearerToken(value: string | undefined): string | undefined {
  if (value === undefined || value.length < 8 || value.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return value.slice(7).trim()
}
