/** The lists of a message that are sent whole: when one comes in pieces, OpenAI's clients keep the last piece, or refuse the second. */
export interface WholeLists {
  readonly thinking_blocks: object[]
  readonly annotations: object[]
  images: object[]
  /** So many of their entries were sent. */
  readonly told: Record<RetoldList, number>
  /** So many characters of them were sent, with those that were sent again. */
  toldCharacters: number
}

/** The lists that are sent once more, all of them, when more of them has come. */
export type RetoldList = 'thinking_blocks' | 'annotations'

/** Returns the lists of a choice without content. */
export const noLists = (): WholeLists => ({
  thinking_blocks: [],
  annotations: [],
  images: [],
  told: { thinking_blocks: 0, annotations: 0 },
  toldCharacters: 0,
})

/** Lists with more entries are sent once more at the end alone, and all lists when so many characters of them were sent. */
const [mostRetold, mostToldCharacters] = [32, 256 * 1024]

/** Returns a list as a delta if more of it has come than was sent; null: it has no new entries. */
export function retellList(lists: WholeLists, name: RetoldList, isEnd: boolean): string | null {
  const list = lists[name]
  if (list.length === lists.told[name] || (!isEnd && isLong(lists, name))) return null
  lists.told[name] = list.length
  const delta = JSON.stringify({ [name]: list })
  lists.toldCharacters += delta.length
  return delta
}

const isLong = (lists: WholeLists, name: RetoldList): boolean =>
  lists[name].length > mostRetold || lists.toldCharacters > mostToldCharacters

/** Returns the pictures as a delta, and forgets them; null: there are none. */
export function takePictures(lists: WholeLists): string | null {
  if (lists.images.length === 0) return null
  const delta = JSON.stringify({ images: lists.images })
  lists.images = []
  return delta
}

/** So many characters of pictures are held for the one list of a stream; later ones are sent as they come. */
export const mostPictured = 16 * 1024 * 1024
