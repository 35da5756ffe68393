/** A reference to a version of a prompt or partial: `id`, `id@latest`, `id@12`, `id@label`. */
export interface Reference {
  /** UUID or slug. */
  readonly id: string
  /** `''`: the published one. */
  readonly suffix: string
}

const longest = 255

/** The parts of a reference; null when it cannot be a name. */
export function parseReference(text: string): Reference | null {
  const at = text.indexOf('@')
  const [id, suffix] = at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  if (!/^[a-zA-Z0-9_-]{1,255}$/.test(id) || suffix.length > longest || (at !== -1 && suffix === '') || /[@\s\0]/.test(suffix)) return null
  return { id, suffix }
}

/** The version number that a suffix gives; null when it gives none. Nine digits are enough. */
export const versionNumber = (suffix: string): number | null => (/^\d{1,9}$/.test(suffix) ? Number(suffix) : null)
