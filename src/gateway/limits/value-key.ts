/**
 * Returns the name of a counter of a policy that groups: `key:value|key:value`. Callers choose the values of metadata and models, so those signs in
 * them that join groups are percent-encoded: two groupings must never meet in one counter. So is NUL, which no text of the database has.
 */
export const valueKeyOf = (groups: readonly (readonly [key: string, value: string])[]): string =>
  groups.map(([key, value]) => `${encoded(key, /[%|:]/g)}:${encoded(value.toWellFormed(), /[%|\0]/g)}`).join('|')

/** Returns the groups that a value key names; the hash that stands for one too long for its column names one group without a key. */
export const groupsOf = (valueKey: string): readonly (readonly [key: string, value: string])[] =>
  valueKey.split('|').map((part) => {
    const at = part.indexOf(':')
    return at === -1 ? ['', part] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]
  })

const encoded = (text: string, signs: RegExp): string => text.replaceAll(signs, encodeURIComponent)

const decoded = (text: string): string => text.replaceAll(/%(?:25|7C|3A)/g, decodeURIComponent)
