import { modelReference } from '../targets/addressing.ts'
import { googlePrefix, unescaped } from './match.ts'
import type { Progress } from '../progress.ts'

/** What `?key=` holds on the paths of Google's clients; null elsewhere, and when there is none. */
export function googleKey(path: string): string | null {
  if (!path.startsWith(googlePrefix)) return null
  const at = path.indexOf('?')
  return at === -1 ? null : new URLSearchParams(path.slice(at + 1)).get('key')
}

/** Takes a key of ours out of the query: it has served, and is no business of the provider or the log. */
export function dropGoogleKey(progress: Progress): void {
  const at = progress.path.indexOf('?')
  const rest = progress.path
    .slice(at + 1)
    .split('&')
    .filter((part) => decodedName(part) !== 'key')
  progress.path = progress.path.slice(0, at) + (rest.length === 0 ? '' : `?${rest.join('&')}`)
  progress.upstreamPath = progress.path
}

const decodedName = (part: string): string => [...new URLSearchParams(part).keys()][0] ?? ''

const named = /^((?:\/v1beta)?\/models\/)(@[^/?:]+\/[^?:]+)(:[^?]*)(\?.*)?$/

/** The model `@slug/gemini-2.5-flash` of `/v1beta/models/@slug/gemini-2.5-flash:generateContent`; the path goes on without the slug. */
export function takeModelOfPath(progress: Progress): string | null {
  const { upstreamPath } = progress
  if (!upstreamPath.includes('/models/')) return null
  const [, before = '', model = '', action = '', search = ''] = named.exec(withPlainAt(upstreamPath)) ?? []
  const reference = modelReference(model === '' ? null : model)
  if (reference === null) return null
  progress.upstreamPath = before + reference.model + action + search
  return model
}

/** Clients that escape the model send `%40slug%2Fgemini`. */
function withPlainAt(path: string): string {
  const [plain = '', ...search] = path.split('?')
  const unfolded = plain.includes('%40') || plain.includes('/@') ? unescaped(plain).replace(/%40/i, '@').replace(/%2f/i, '/') : plain
  return search.length === 0 ? unfolded : `${unfolded}?${search.join('?')}`
}
