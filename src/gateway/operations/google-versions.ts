/** The versions of Google's API that its clients put into paths: the usual one, and that of previews. `v1` is in our own paths too. */
export const googleVersions = ['v1beta', 'v1alpha'] as const

/** Returns a pattern of paths that begin with such a version; `rest` goes on behind it. */
export const googlePattern = (rest: string): RegExp => new RegExp(String.raw`^/(?:${googleVersions.join('|')})${rest}`)
