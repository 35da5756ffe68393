const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/

/** Returns true if a text is `major.minor.patch`, without leading zeros, prefix or suffix. */
export const isVersion = (text: string): boolean => pattern.test(text)

/** Negative when `one` comes before `other`, 0 when they are the same, positive after. Throws on a text that is no version. */
export function compareVersions(one: string, other: string): number {
  const left = parts(one)
  const right = parts(other)
  for (let at = 0; at < left.length; at += 1) {
    const [part = 0n, against = 0n] = [left[at], right[at]]
    if (part !== against) return part < against ? -1 : 1
  }
  return 0
}

/** The folder of a release's migrations: `v01.05.00` for `1.5.0`, so that folders sort as releases do. */
export const folderOf = (version: string): string =>
  `v${version
    .split('.')
    .map((part) => part.padStart(2, '0'))
    .join('.')}`

/** The release of a migration, `1.5.0` of `v01.05.00/001-name`. */
export const releaseOf = (migration: string): string => migration.slice(1, migration.indexOf('/')).split('.').map(Number).join('.')

/** Requests ask again and again for the same few releases. Bounded, because some come from outside. */
const known = new Map<string, readonly bigint[]>()
const mostKnown = 256

function parts(version: string): readonly bigint[] {
  const held = known.get(version)
  if (held !== undefined) return held
  const found = readParts(version)
  if (known.size < mostKnown && version.length <= longestKnown) known.set(version, found)
  return found
}

const longestKnown = 64

/** Big integers, because a number would round parts of more than 15 digits. */
function readParts(version: string): readonly bigint[] {
  const [, ...found] = pattern.exec(version) ?? []
  if (found.length === 0) throw new RangeError(`${version} is no version: write major.minor.patch, such as 1.12.0`)
  return found.map(BigInt)
}
