/** Returns a text without all repetitions of a character at its end, in time linear in their number: an expression with `+$` begins anew at each. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return end === text.length ? text : text.slice(0, end)
}
