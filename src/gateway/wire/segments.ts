/** Escapes such as `%2d` and `%7E`, which spell what is the same letter to every server. */
const needless = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** A path with nothing escaped that means the same without. */
export const unescaped = (path: string): string => (path.includes('%') ? path.replace(needless, decodeURIComponent) : path)
