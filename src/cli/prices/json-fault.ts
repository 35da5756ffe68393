/** A place in a text, counted from 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

const space = /[ \t\n\r]*/y
const scalar = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy
const name = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy

/** Returns where a text stops being JSON; null: it is JSON. The engine's own message does not always state it. The text is not nested deeply. */
export function jsonFault(text: string): TextPlace | null {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const sign = (wanted: string): boolean => {
    skip(space)
    if (text[at] !== wanted) return false
    at += 1
    return true
  }
  const members = (end: string, member: () => boolean): boolean => {
    if (sign(end)) return true
    do if (!member()) return false
    while (sign(','))
    return sign(end)
  }
  const pair = (): boolean => {
    skip(space)
    return skip(name) && sign(':') && value()
  }
  const value = (): boolean => {
    if (sign('{')) return members('}', pair)
    if (sign('[')) return members(']', value)
    return skip(scalar)
  }
  const isWhole = value() && (skip(space), at === text.length)
  return isWhole ? null : placeAt(text, at)
}

/** Returns the line and column of a place in a text. */
export function placeAt(text: string, at: number): TextPlace {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}
