import type { DialectId } from '../../../src/gateway/dialects/dialect.ts'
import { dialects } from '../../../src/gateway/dialects/registry.ts'
import { estimateAnswer, type EstimatedRequest, estimateInput } from '../../../src/gateway/tokens/estimate-tokens.ts'
import { type Door, repeated } from './door.ts'

const listOf = (piece: string, bytes: number): string => `[${repeated(`${piece},`, bytes)}${piece}]`
const turns = (content: string): string => `[{"role":"user","content":${content}}]`

/** Lists of a conversation, of which each item costs more than its bytes. */
const lists: Readonly<Record<string, (bytes: number) => string>> = {
  numbers: (bytes) => listOf('1', bytes),
  lists: (bytes) => listOf('[]', bytes),
  objects: (bytes) => listOf('{}', bytes),
  'empty texts': (bytes) => listOf('""', bytes),
  texts: (bytes) => listOf('"a"', bytes),
  turns: (bytes) => listOf('{"role":"user","content":"a"}', bytes),
  'parts of a turn': (bytes) => turns(listOf('{"type":"text","text":"a"}', bytes)),
  'numbers of a turn': (bytes) => turns(listOf('1', bytes)),
  'pictures of a turn': (bytes) => turns(listOf('{"type":"image_url","image_url":{"url":"https://h"}}', bytes)),
  'fields of a turn': (bytes) => `[{${Array.from({ length: bytes / 11 }, (_, at) => `"k${at}":1`).join(',')}}]`,
  'one long text': (bytes) => turns(`"${repeated('word ', bytes)}"`),
}

/** The fields that hold a conversation or an answer, each in a dialect that reads it, and one of a body whose dialect is not known. */
function placesOf(part: 'request' | 'answer'): readonly (readonly [field: string, dialect: DialectId | null])[] {
  const known = Object.entries(dialects).flatMap(([id, { texts }]) =>
    (part === 'request' ? Object.keys(texts.request) : texts.answer).slice(0, 1).map((field) => [field, id as DialectId] as const),
  )
  return [['anything', null], ...new Map(known)]
}

function shapesOf(part: 'request' | 'answer', estimate: (request: EstimatedRequest) => number): Door['shapes'] {
  const places = placesOf(part)
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [
      name,
      (size: number) => {
        const held: unknown = JSON.parse(list(size))
        return () =>
          places.map(([field, dialect]) => estimate({ json: { model: 'gpt-4o', [field]: held }, size, dialect, model: 'gpt-4o' }))
      },
    ]),
  )
}

/** Many bytes are estimated in another way than few. */
const least = 1024 * 1024

/** The estimates of the tokens of exchanges whose usage is not known. */
export const estimateDoors: readonly Door[] = [
  { name: 'the tokens of a request', shapes: shapesOf('request', estimateInput), least },
  { name: 'the tokens of an answer', shapes: shapesOf('answer', estimateAnswer), least },
]
