import { json, type AnswerShape } from '../../answer-shapes.ts'
import type { Route } from '../../route.ts'
import { jsonShape } from './json.ts'
import { protobufShape } from './protobuf.ts'
import { redirectShape } from './redirect.ts'
import type { Shape } from './shape.ts'
import { streamShape } from './stream.ts'

/** Returns the shape of a route of our own API. */
export function shapeOf({ answers = json, takes }: Pick<Route, 'answers' | 'takes'>): Shape {
  const shape = shapeNamed(answers)
  return takes === 'form' ? { ...shape, formats: { ...shape.formats, form: true } } : shape
}

function shapeNamed(answers: AnswerShape): Shape {
  if (answers.kind === 'redirect') return redirectShape
  if (answers.kind === 'stream') return streamShape
  return answers.kind === 'protobuf' ? protobufShape(answers) : jsonShape
}
