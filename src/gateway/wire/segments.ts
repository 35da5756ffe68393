/** Escapes such as `%2d` and `%7E`, which every server reads as the same letter. */
const needless = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** A path without needless escapes. */
export const unescaped = (path: string): string => (path.includes('%') ? path.replace(needless, decodeURIComponent) : path)
