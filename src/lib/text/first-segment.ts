/** `api-keys` of `/api-keys/:id?x=1`. */
export function firstSegment(path: string, from = 1): string {
  const slash = path.indexOf('/', from)
  const query = path.indexOf('?', from)
  const end = Math.min(slash === -1 ? path.length : slash, query === -1 ? path.length : query)
  return path.slice(from, end)
}
