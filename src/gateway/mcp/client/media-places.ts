import type { Fields } from '../../../lib/json/fields.ts'
import type { Phase } from '../../checks/check.ts'

/** A place on the way to media; null: no way leads from here to any. */
export type MediaPlace = 'params' | 'result' | 'questions' | 'question' | 'messages' | 'answers' | 'answer' | 'blocks' | null

type Steps = Readonly<Record<string, MediaPlace>>

/** The places to which the members of an object lead. Arguments, structured contents and metadata have none: tools take any text from there. */
const steps: Readonly<Record<Exclude<MediaPlace, null>, Steps>> = {
  params: { result: 'answer', inputResponses: 'answers' },
  // A question of the server is looked at by itself, or within the result that asks it.
  result: { content: 'blocks', contents: 'blocks', messages: 'messages', inputRequests: 'questions' },
  questions: {},
  question: { params: 'result' },
  messages: { content: 'blocks' },
  answers: {},
  answer: { content: 'blocks' },
  blocks: { resource: 'blocks', content: 'blocks' },
}

/** By names that a server or a client chooses. */
const named: Readonly<Record<string, MediaPlace>> = { questions: 'question', answers: 'answer' }

/** Returns the place where the parameters or the result of a message begin. */
export const firstPlace = (phase: Phase): MediaPlace => (phase === 'input' ? 'params' : 'result')

/** Returns the place of a member of an object. Items of a list are where the list is. */
export function placeBelow(place: MediaPlace, name: string, holder: Fields): MediaPlace {
  if (place === null) return null
  // The answer to a form has fields that its server chooses.
  if (place === 'answer' && Object.hasOwn(holder, 'action')) return null
  const known = steps[place]
  return named[place] ?? (Object.hasOwn(known, name) ? (known[name] ?? null) : null)
}

/** Returns whether an object in a place may be media. */
export const isMediaPlace = (place: MediaPlace): boolean => place === 'blocks'
