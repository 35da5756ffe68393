import test from 'ava'
import { z } from 'zod'
import { features } from '../../../src/features/index.ts'
import { differences, type Example } from '../../support/examples/story.ts'
import { type Listener, readExamples, startListener } from '../../support/examples/tell.ts'

let listener: Listener

test.before(async () => {
  listener = await startListener()
})
test.after.always(() => listener?.stop())

/** Characters that no text of the database can hold: a NUL, and half of a surrogate pair. */
const unstorable = ['a\0b', 'a\uD800b']

const queries = new Map(
  features.flatMap(({ routes }) =>
    routes.map(({ method, path, query }) => [
      `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      query instanceof z.ZodObject ? Object.keys(query.shape) : [],
    ]),
  ),
)

/** A value with each of its texts in turn replaced by another. */
function* withText(value: unknown, text: string): Generator {
  if (typeof value === 'string') yield text
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    for (const changed of withText(child, text))
      yield Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }
    // A field whose name the caller chooses.
    if (!Array.isArray(value) && /metadata|variables|headers/.test(name)) yield { ...value, [name]: { [text]: 'x' } }
  }
}

/** An example with each of its path parameters, its filters and the texts of its body in turn replaced. */
function* spoilt(example: Example): Generator<Example> {
  const { path = {}, query = {}, operation } = example
  for (const text of unstorable) {
    // A path that is no UTF-8 at all belongs to another test.
    if (text.isWellFormed()) for (const name of Object.keys(path)) yield { ...example, path: { ...path, [name]: encodeURIComponent(text) } }
    for (const name of queries.get(operation) ?? []) yield { ...example, query: { ...query, [name]: text } }
    for (const body of withText(example.body, text)) yield { ...example, body }
  }
}

test('a text that no database can hold is a fault of the request wherever it stands, never of the server', async (t) => {
  const faults: string[] = []
  let asked = 0
  for (const example of readExamples()) {
    for (const wrong of spoilt(example)) {
      asked += 1
      const { status, answer } = await listener.ask(wrong)
      if (status >= 500 && status !== 501)
        faults.push(`${JSON.stringify({ ...wrong, answer: undefined })}: ${status} ${JSON.stringify(answer)}`)
    }
    differences(example.answer, (await listener.tell(example)).answer, listener.names)
  }
  t.true(asked > 800, `${asked}`)
  t.deepEqual(faults, [])
})
