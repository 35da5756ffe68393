/** Returns true while somebody types in a field. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null

/** Returns true for a key that is meant for the page: neither typed into a field, nor one with a modifier. */
export const isForPage = ({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  !(ctrlKey || metaKey || altKey || isTyping(target))
