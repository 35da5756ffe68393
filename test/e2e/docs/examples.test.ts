import test from 'ava'
import { differences } from '../../support/examples/story.ts'
import { type Listener, readExamples, startListener } from '../../support/examples/tell.ts'

let listener: Listener

test.before(async () => {
  listener = await startListener()
})
test.after.always(() => listener?.stop())

test('every example of the description is answered as it says', async (t) => {
  const wrong: string[] = []
  for (const example of readExamples()) {
    const { status, type, answer } = await listener.tell(example)
    const found = differences(example.answer, answer, listener.names).concat(
      status === 200 ? [] : [`status ${status}: ${JSON.stringify(answer)}`],
      type === (example.type ?? 'application/json') ? [] : [`type ${type}`],
    )
    wrong.push(...found.map((difference) => `${example.operation} ${difference}`))
  }
  t.deepEqual(wrong, [], 'after a change that is meant: node scripts/record-examples.ts')
})
