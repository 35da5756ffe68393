/** The lists of a message that are told whole: of one that comes in pieces OpenAI's clients keep the last piece, or refuse the second. */
export interface WholeLists {
  thinking_blocks: readonly object[]
  annotations: readonly object[]
  images: readonly object[]
  /** So many blocks of thoughts were told. */
  told: number
}

/** Returns the lists of a choice that has said nothing yet. */
export const noLists = (): WholeLists => ({ thinking_blocks: [], annotations: [], images: [], told: 0 })

/** More blocks of thoughts are told once more at the end alone. */
const mostRetold = 32

/** Returns all thoughts as a delta if more have come than were told; null: there is nothing to tell. */
export function retellThinking(lists: WholeLists, isEnd: boolean): string | null {
  const { thinking_blocks: blocks } = lists
  if (blocks.length === lists.told || (!isEnd && blocks.length > mostRetold)) return null
  lists.told = blocks.length
  return JSON.stringify({ thinking_blocks: blocks })
}

/** Returns a list as a delta, and empties it; null: there is nothing to tell. */
export function takeList(lists: WholeLists, name: 'annotations' | 'images'): string | null {
  if (lists[name].length === 0) return null
  const delta = JSON.stringify({ [name]: lists[name] })
  lists[name] = []
  return delta
}

/** So many characters of pictures are held for the one list of a stream; those that come then are told as they come. */
export const mostPictured = 16 * 1024 * 1024
