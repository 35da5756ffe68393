/** The lists of a message that are told whole: of one that comes in pieces OpenAI's clients keep the last piece, or refuse the second. */
export interface WholeLists {
  thinking_blocks: readonly object[]
  annotations: readonly object[]
  images: readonly object[]
}

/** Returns the lists of a choice that has said nothing yet. */
export const noLists = (): WholeLists => ({ thinking_blocks: [], annotations: [], images: [] })

/** Returns a list as a delta, and empties it; null: there is nothing to tell. */
export function takeList(lists: WholeLists, name: keyof WholeLists): string | null {
  if (lists[name].length === 0) return null
  const delta = JSON.stringify({ [name]: lists[name] })
  lists[name] = []
  return delta
}

/** So many characters of pictures are held for the one list of a stream; those that come then are told as they come. */
export const mostPictured = 16 * 1024 * 1024
