// Sends the running product all requests of assets/docs/examples.json, and writes its answers into that file: after a change of answers. In a new
// example `<<POST /labels#id>>` stands for a field of an earlier answer.
import { writeFileSync } from 'node:fs'
import { differences, type Example, mapTexts } from '../test/support/examples/story.ts'
import { examplesPath, readExamples, startListener } from '../test/support/examples/tell.ts'

const reference = /^<<(.+?)#([\w.]+)(#token)?>>$/
const isKey = /^gh-\w{40,}$/

const answers = new Map<string, unknown>()

/** The text that a new example takes from an earlier answer. */
function resolve(text: string): string {
  const [, operation, field, token] = reference.exec(text) ?? []
  if (operation === undefined || field === undefined) return text
  let value = answers.get(operation)
  for (const part of field.split('.')) value = Reflect.get(Object(value), part)
  if (typeof value !== 'string') throw new Error(`${text} names nothing in ${JSON.stringify(answers.get(operation))}`)
  return token === undefined ? value : (/[\w-]+$/.exec(value)?.[0] ?? '')
}

const listener = await startListener()

/** No key that was ever good is written down. */
function shownKey(key: string): string {
  const name = `gh-example${String(listener.names.size).padStart(42, '0')}`
  listener.names.set(name, key)
  return name
}

const recorded: Example[] = []
try {
  for (const given of readExamples()) {
    const example = mapTexts(given, resolve) as Example
    const { status, type, answer } = await listener.tell(example)
    if (status !== 200) throw new Error(`${example.operation} was answered ${status}: ${JSON.stringify(answer)}`)
    // A value with a name in the file keeps it.
    if (given.answer !== undefined) differences(given.answer, answer, listener.names)
    const named = new Map(Array.from(listener.names, ([name, actual]) => [actual, name]))
    const shown = mapTexts(answer, (text) => named.get(text) ?? (isKey.test(text) ? shownKey(text) : text))
    answers.set(example.operation, shown)
    const { answer: _, type: __, ...asked } = example
    recorded.push({ ...asked, answer: shown, ...(type !== 'application/json' && { type }) })
  }
} finally {
  await listener.stop()
}

/** The milliseconds of this run differ in each; the file keeps the same ones, so that it changes only when an answer does. */
const steady = (name: string, value: unknown): unknown =>
  typeof value === 'number' && /(?:_time|Time|_time_ms|_first_byte)$/.test(name) ? 12 : value

writeFileSync(examplesPath, `${JSON.stringify(recorded, steady, 2)}\n`)
console.log(`${recorded.length} examples recorded`)
