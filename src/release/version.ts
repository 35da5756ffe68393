const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/

/** Returns true if a text is `major.minor.patch`, without leading zeros, prefix or suffix. */
export const isVersion = (text: string): boolean => pattern.test(text)

/** Negative when `one` comes before `other`, 0 when they are the same, positive after. Throws on what is no version. */
export function compareVersions(one: string, other: string): number {
  const left = parts(one)
  const right = parts(other)
  for (const [at, part] of left.entries()) {
    const against = right[at] ?? 0n
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

/** Big integers, because a number would round parts of more than 15 digits. */
function parts(version: string): readonly bigint[] {
  const [, ...found] = pattern.exec(version) ?? []
  if (found.length === 0) throw new RangeError(`${version} is no version: write major.minor.patch, such as 1.12.0`)
  return found.map(BigInt)
}
