import type { BlockStart } from '../neutral/events.ts'
import { noLists, type WholeLists } from './whole-lists.ts'

/** One choice of a stream as far as it is written. */
export interface ChoiceState {
  begun: boolean
  block: BlockStart | null
  /** The number of calls so far. */
  calls: number
  /** The reasoning of the open block, which its signature comes with. */
  reasoning: string
  /** Characters of text before the open block, and in it. */
  offset: number
  length: number
  readonly lists: WholeLists
}

/** Returns a choice without content. */
export const newChoice = (): ChoiceState => ({
  begun: false,
  block: null,
  calls: 0,
  reasoning: '',
  offset: 0,
  length: 0,
  lists: noLists(),
})
