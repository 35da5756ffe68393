import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

const [cases, points, cuts, fields] = ['cases.ts', 'points.test.ts', 'cuts.test.ts', 'fields.test.ts'].map((file) => `conformance/${file}`)
const whole = 'conformance/conformance.test.ts'
const unit = 'unit/gateway/dialects'

/** Each point that a translation must hold, with the tests that hold it: a file, and the title or the case there. */
const held: Readonly<Record<string, readonly (readonly [file: string | undefined, says: string])[]>> = {
  'plain text': [[cases, 'a question and its answer']],
  'system and developer': [[points, 'results in another order find their calls']],
  'images by address and as bytes': [
    [cases, 'an image as bytes'],
    [cases, 'an image at an address'],
  ],
  'a PDF': [[cases, 'a PDF as bytes']],
  'two parallel tools': [[cases, 'two calls and their results']],
  'results in another order, one that failed, a call without arguments': [[points, 'results in another order find their calls']],
  'an image in a result': [[points, 'an image in the result of a tool']],
  'the choice of a tool: named, required, none': [[points, 'a tool may be called, must be, must not be, or is named']],
  'not parallel, stop, n, seed, user, every other field': [
    [fields, 'no field is lost without a word'],
    [fields, 'every field that is read has a sample'],
  ],
  'bounds of fields': [['integration/gateway/field-bounds.test.ts', 'must be at most']],
  'an answer by a schema, native and by a tool': [
    [cases, 'an answer by a schema'],
    [`${unit}/translate.test.ts`, 'a schema is native where the model knows it, else a tool'],
  ],
  'reasoning, its history with and without what it was carried in': [
    [cases, 'thoughts, a call, and all of it back'],
    [`${unit}/translate.test.ts`, 'thinking is switched off where the reasoning of the turn did not come back'],
  ],
  'ends: length, sequence, filter, a full context': [
    [cases, 'the cap of tokens'],
    [cases, 'a sequence'],
    [cases, 'a filter'],
    [`${unit}/bedrock.test.ts`, 'model_context_window_exceeded'],
  ],
  'usage with cache and reasoning': [[cases, 'tokens of caches and thoughts']],
  'streams in pieces of any size': [[cuts, 'a stream in pieces of any size says the same']],
  'an error before a stream, and its words': [[whole, 'status and message']],
  '400 bodies of the provider with its field names': [
    ['integration/gateway/translated-words.test.ts', 'a field that a provider refuses is named as the client knows it'],
  ],
  'an error within a stream': [['conformance/named-bugs-of-answers.test.ts', 'an error in a stream keeps its words']],
  'a stream that is cut, a client that leaves': [
    [whole, 'a stream that is cut, and a client that leaves'],
    [cuts, 'a stream that is cut at any byte is never whole'],
  ],
  'a field of a request that nobody knows': [[points, 'a field that nobody knows is left out and named']],
  'a field of an answer and an event that nobody knows': [[cuts, 'an event or a field that nobody knows changes nothing']],
  'null in place of any optional field': [[points, 'null in place of any optional field is no field']],
  'law: a conversation goes there and back': [['conformance/random.test.ts', 'at ${provider}']],
  'law: the stream adds up to the whole answer': [
    [`${unit}/cohere.test.ts`, 'adds up to the whole answer'],
    [`${unit}/bedrock.test.ts`, 'adds up to the whole answer'],
  ],
  'law: a second round of the client is taken': [['conformance/fallback.test.ts', 'a conversation goes from']],
  'law: no damage makes a reader fail': [[cuts, 'no damage to its bytes makes a reader fail']],
}

const tests = join(import.meta.dirname, '..')

for (const [point, places] of Object.entries(held))
  test(`a translation holds: ${point}`, (t) => {
    t.true(places.length > 0)
    for (const [file = '', says] of places) t.true(readFileSync(join(tests, file), 'utf8').includes(says), `${file} does not say: ${says}`)
  })
