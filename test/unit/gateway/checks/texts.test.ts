import test from 'ava'
import { fakeEgress, ok } from '../credentials/fake-egress.ts'
import { patternFault } from '../../../../src/gateway/patterns/pattern-making.ts'
import { StreamWindow } from '../../../../src/gateway/answers/inspect/stream-window.ts'
import { isVast } from '../../../../src/gateway/dialects/texts/walk.ts'
import { judge, readied } from './running.ts'

type Case = readonly [parameters: object, passes: readonly string[], fails: readonly string[]]

const json = '{"a":1,"b":null}'
const python = 'Here:\n```python\nprint(1)\n```\n'

const cases: Readonly<Record<string, readonly Case[]>> = {
  'default.jsonKeys': [
    [
      { keys: ['a', 'x'], operator: 'any' },
      [json, `Sure: ${json} done`, `\`\`\`json\n${json}\n\`\`\``, '{} then {"x":1}'],
      ['{"c":1}', 'a: 1', '', '[1]'],
    ],
    [{ keys: ['a', 'b'], operator: 'all' }, [json], ['{"a":1}', '{"a":1} {"b":1}']],
    [
      { keys: ['a', 'toString'], operator: 'none' },
      ['{"c":1}', '{}', '```\n[{"a":1}]\n``` {"c":1}'],
      [json, '{"c":1} {"a":1}', 'no JSON', `${'{"c":1} '.repeat(10_000)}${json}`, `\`\`\`\n{}\n\`\`\` ${json}`],
    ],
    [{ keys: ['a'] }, [json, '{"x":"}"} {"a":"{"}'], ['{"b":{"a":1}}', '{"a":']],
  ],
  'default.containsCode': [
    [{ format: 'Python' }, [python, '~~~py\n1\n~~~', '   ```Python3\n'], ['print(1)', '```js\n1\n```', '```pythonic\n', '    ```python\n']],
    [{ format: 'C++' }, ['```cpp\n', '```c++\n'], ['```c\n', '```csharp\n']],
    [{ format: 'SQL', not: true }, [python, ''], ['```sql\nSELECT 1\n```', '```PostgreSQL\n']],
  ],
  'default.sentenceCount': [
    [{ minSentences: 2, maxSentences: 3 }, ['One. Two.', 'Is it? It is! So.', 'Er ging. Sie kam.'], ['One.', '', '...', 'A. B. C. D.']],
    [{ maxSentences: 1 }, ['It costs 1.5 dollars.', 'No full stop', '', '!!! ???'], ['One. Two.']],
    [{ minSentences: 1, not: true }, ['', '—'], ['One.']],
    [
      { minSentences: 2, maxSentences: 2 },
      [
        'Dr. Smith met Mr. Jones at 5 p.m. today. They left.',
        'J. R. Smith wrote it. It sold.',
        'Das sind z. B. Äpfel, d.h. Obst. Sie schmecken.',
        'Voir p. ex. M. Durand. Il vient.',
        'これは本です。それは犬です。',
        '他来了。她走了！',
        'Он пришёл. Она ушла.',
      ],
      ['Dr. Smith left.', 'Nr. 5 gewann.', '他来了。'],
    ],
  ],
  'default.wordCount': [
    [{ minWords: 2, maxWords: 3 }, ['a b', ' a  b\nc ', 'a - b', 'well-known it’s'], ['a', 'a b c d', '', '- – —']],
    [
      { minWords: 3, maxWords: 6 },
      ['我喜欢吃苹果', '私は本を読む', 'ฉันรักภาษาไทย', 'I love 苹果'],
      ['本', '我喜欢吃苹果和香蕉还有很多别的水果'],
    ],
  ],
  'default.endsWith': [
    [
      { suffix: 'done' },
      ['done', 'All done.', 'done \n', 'done. \t', 'done。', 'done．', 'done .'],
      ['done!', 'done..', 'done. Not', 'undone it', 'done?', `done${' '.repeat(5000)}`],
    ],
    [{ suffix: '完了', not: true }, ['完了しない'], ['完了', '完了。', '完了。 ', '完了｡\n']],
    [{ suffix: 'a. ' }, ['a. ', 'a. .'], ['a.']],
  ],
  'default.contains': [
    [
      { words: ['art', 'cat'], operator: 'none', wholeWords: true },
      ['start', 'concatenate', 'art_work', 'artö'],
      ['art', 'an art.', '«cat»', '(cat)', '苹果cat很'],
    ],
    [{ words: ['C++', '苹果'], operator: 'all', wholeWords: true }, ['C++ 我喜欢苹果', 'C++: 苹果'], ['C++', 'XC++ 苹果']],
    [{ words: ['art'], operator: 'none' }, ['cat'], ['start']],
  ],
  'default.characterCount': [[{ maxCharacters: 3 }, ['', 'abc'], ['abcd']]],
  'default.jsonSchema': [
    [{ schema: { required: ['a'] } }, [json, `text ${json}`], ['{"c":1}', 'none', '']],
    [{ schema: { required: ['a'] }, not: true }, ['{"c":1}'], [json]],
  ],
  'default.regexMatch': [
    [{ rule: '/^ok$/im' }, ['a\nOK\nb'], ['okay']],
    [{ rule: '\\bkey\\b', not: true }, ['monkey'], ['a key']],
  ],
}

for (const [id, list] of Object.entries(cases))
  for (const [parameters, passes, fails] of list)
    test(`${id} ${JSON.stringify(parameters)}`, async (t) => {
      const ready = readied(id, parameters)
      for (const text of passes) t.true((await judge(ready, { text })).passed, text)
      for (const text of fails) t.false((await judge(ready, { text })).passed, text)
    })

// Objects that do not end are looked through in a fraction of the time that as many errors of a parser take.
const hidden = `{"c":1} ${'{'.repeat(6_000)}${json}`

test('what may be JSON and was not looked at is neither there nor not', async (t) => {
  for (const [id, parameters] of [
    ['default.jsonKeys', { keys: ['a'], operator: 'none' }],
    ['default.jsonKeys', { keys: ['a'] }],
    ['default.jsonSchema', { schema: { required: ['a'] } }],
    ['default.jsonSchema', { schema: { required: ['a'] }, not: true }],
  ] as const)
    await t.throwsAsync(async () => judge(readied(id, parameters), { text: hidden }), { message: /more in the text/ })
  t.true((await judge(readied('default.jsonKeys', { keys: ['c'] }), { text: hidden })).passed)
  t.false((await judge(readied('default.jsonKeys', { keys: ['c'], operator: 'none' }), { text: hidden })).passed)
})

const links = fakeEgress(({ url }) => {
  if (url.includes('away')) throw new Error('unreachable')
  return { ...ok({}), status: url.includes('gone') ? 404 : 200 }
})
const resolving = { ...links, resolves: (url: string) => Promise.resolve(!url.includes('nowhere')) }

test('default.validUrls calls what is linked, or only looks it up', async (t) => {
  const pages = readied('default.validUrls', {})
  for (const [text, passed] of [
    ['See https://a.test/page. And (http://b.test)!', true],
    ['See https://a.test/gone', false],
    ['See https://away.test', false],
    ['no links, ftp://a.test', true],
  ] as const)
    t.is((await judge(pages, { text, egress: resolving })).passed, passed, text)
  t.deepEqual(
    links.asked.slice(0, 2).map(({ url }) => url),
    ['https://a.test/page', 'http://b.test'],
  )
  const hosts = readied('default.validUrls', { onlyDNS: true })
  const before = links.asked.length
  t.true((await judge(hosts, { text: 'https://a.test/gone', egress: resolving })).passed)
  const verdict = await judge(hosts, { text: 'https://nowhere.test', egress: resolving })
  t.false(verdict.passed)
  t.deepEqual(verdict.data?.['invalidUrls'], ['https://nowhere.test'])
  t.true(
    (await judge(readied('default.validUrls', { onlyDNS: true, not: true }), { text: 'https://nowhere.test', egress: resolving })).passed,
  )
  t.is(links.asked.length, before)
  await judge(pages, { text: Array.from({ length: 100 }, (_, at) => `https://a.test/${at}`).join(' '), egress: resolving })
  t.is(links.asked.length, before + 20)
})

test('default.log tells a service, and passes whatever comes back', async (t) => {
  const said: string[] = []
  const egress = fakeEgress(({ url, headers, body }, count) => {
    said.push(url, headers['x-token'] ?? '', body ?? '')
    if (count === 2) throw new Error('away')
    return { ...ok({}), status: count === 3 ? 500 : 200 }
  })
  const ready = readied('default.log', { logURL: 'https://log.test/in?a=b', headers: '{"x-token":"t"}' })
  for (const says of [/sent, and answered with 200/, /could not be sent/, /answered with 500/]) {
    const verdict = await judge(ready, { text: 'Hello', egress })
    t.true(verdict.passed)
    t.regex(String(verdict.data?.['explanation']), says)
  }
  t.deepEqual(said.slice(0, 2), ['https://log.test/in?a=b', 't'])
  t.like(JSON.parse(said[2] ?? ''), { response: { text: 'Hello', statusCode: 200 }, eventType: 'afterRequestHook' })
})

/** Patterns and texts on which engines that go back take longer than anyone waits. */
const hostile: readonly (readonly [rule: string, text: string])[] = [
  ['(a+)+$', `${'a'.repeat(50_000)}!`],
  ['(a|a)*b', 'a'.repeat(50_000)],
  ['(.*)*x', 'y'.repeat(50_000)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(50_000)],
  ['(\\w+\\s?)*$', `${'word '.repeat(10_000)}!`],
]

test('no pattern takes more than time linear in the text', async (t) => {
  const nobody = fakeEgress(() => ok({}))
  const from = process.cpuUsage()
  for (const [rule, text] of hostile) {
    await judge(readied('default.regexMatch', { rule }), { text })
    await judge(readied('default.regexReplace', { rule }), { text })
  }
  for (const id of ['default.containsCode', 'default.jsonKeys', 'default.sentenceCount', 'default.validUrls'] as const) {
    const parameters = { 'default.containsCode': { format: 'Go' }, 'default.jsonKeys': { keys: ['a'] } }[id as 'default.containsCode'] ?? {}
    for (const text of ['`'.repeat(100_000), '{'.repeat(100_000), '{"a":'.repeat(20_000), 'https://'.repeat(12_000), '``` '.repeat(25_000)])
      await judge(readied(id, parameters), { text, egress: nobody })
  }
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 30_000_000, `${(user + system) / 1000} ms`)
})

test('a pattern that looks at the same text for each of its matches, or matches everywhere, is given up, and says so', async (t) => {
  const from = process.cpuUsage()
  for (const [rule, text, says] of [
    ['a*b|a', 'a'.repeat(100_000), /takes too long/],
    ['o', 'o'.repeat(20_000), /matches more than 10000 times/],
  ] as const)
    await t.throwsAsync(async () => judge(readied('default.regexReplace', { rule }), { text }), { message: says })
  const { user, system } = process.cpuUsage(from)
  t.true(user + system < 5_000_000, `${(user + system) / 1000} ms`)
})

/** Inputs that made a check look at the same text again and again, without any pattern. */
const tedious: readonly (readonly [id: string, parameters: object, text: string])[] = [
  ['default.jsonKeys', { keys: ['a'] }, `\`\`\`${' '.repeat(400_000)}`],
  ['default.jsonKeys', { keys: ['a'] }, `x${'{'.repeat(10_000_000)}`],
  ['default.validUrls', {}, Array.from({ length: 3000 }, (_, at) => `https://${at}${'.'.repeat(1900)}x`).join(' ')],
]

test.serial('no text makes a check look at it again and again', async (t) => {
  const nobody = fakeEgress(() => ok({}))
  for (const [id, parameters, text] of tedious) {
    const from = process.cpuUsage()
    await judge(readied(id, parameters), { text, egress: nobody })
    const { user, system } = process.cpuUsage(from)
    t.true(user + system < 2_000_000, `${id} ${text.slice(0, 10)}: ${(user + system) / 1000} ms`)
  }
})

const random = (length: number, letters: string): string => {
  let seed = 1
  return Array.from({ length }, () => letters[(seed = (seed * 48_271) % 2_147_483_647) % letters.length]).join('')
}

/** Linear work that takes minutes all the same: a thousand words that almost match everywhere, a pattern that is in a thousand places at once. */
const laborious: readonly (readonly [id: string, parameters: object, text: string])[] = [
  [
    'default.contains',
    { words: Array.from({ length: 300 }, (_, at) => `${'a'.repeat(400)}b${'a'.repeat(400 - at)}`) },
    'a'.repeat(1_000_000),
  ],
  ['default.regexMatch', { rule: '(?i)(?:a|b|ab)*a(?:a|b){800}c$' }, random(500_000, 'ab')],
  [
    'default.jsonSchema',
    { schema: { allOf: Array.from({ length: 100 }, () => ({ uniqueItems: true })) } },
    JSON.stringify(Array.from({ length: 100_000 }, (_, at) => at)),
  ],
]

test.serial('a check that takes too long is given up, and says so', async (t) => {
  for (const [id, parameters, text] of laborious) {
    const from = process.cpuUsage()
    await t.throwsAsync(async () => judge(readied(id, parameters), { text }), { message: /takes too long/ })
    const { user, system } = process.cpuUsage(from)
    t.true(user + system < 4_000_000, `${id}: ${(user + system) / 1000} ms`)
  }
})

test.serial('many texts have no more matches than one', async (t) => {
  const ready = readied('default.regexReplace', { rule: 'o', redactText: 'x'.repeat(1000) })
  await t.throwsAsync(async () => judge(ready, { texts: Array.from({ length: 20 }, () => 'o'.repeat(1000)) }), {
    message: /more than 10000 times/,
  })
})

test('a pattern that is too large is refused before it is made', (t) => {
  const from = process.memoryUsage().heapUsed
  for (const rule of ['a{999}'.repeat(170), `(?:${'a'.repeat(1000)}){999}`, '(?:[a-z]{100}x{9}){99}'.repeat(3)])
    t.regex(patternFault(rule) ?? '', /too large/)
  t.true(process.memoryUsage().heapUsed - from < 50_000_000)
  for (const rule of ['[^]{9}]{9}', '\\Qa{999}\\E{2}', '(?:\\pL{30}){30}', '(a|b){1,100}', '\\d{3}-\\d{4}'])
    t.is(patternFault(rule), null, rule)
})

const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : nested(depth - 1, [inner]))

test('a heap of crumbs is not looked through, a long conversation is', (t) => {
  const part = { type: 'text', text: 'Hello' }
  t.false(isVast({ messages: Array.from({ length: 5000 }, () => ({ role: 'user', content: [part, part] })) }))
  t.false(isVast({ input: Array.from({ length: 2000 }, () => Array.from({ length: 500 }, (_, at) => at)) }), 'numbers say nothing')
  t.false(isVast(nested(120, 'deep')))
  t.true(
    isVast(
      nested(
        110,
        Array.from({ length: 10_000 }, () => 'a'),
      ),
    ),
  )
  t.true(isVast(nested(130, 'too deep')))
  t.true(isVast({ messages: [{ role: 'user', content: Array.from({ length: 100_000 }, () => ({})) }] }))
})

test('a stream of thousands of choices is a thousand texts and one', (t) => {
  const window = new StreamWindow(null)
  for (let index = 0; index < 20_000; index += 1)
    window.add(Buffer.from(`data: {"choices":[{"index":${index},"delta":{"content":"${index === 15_000 ? 'secret' : 'a'}"}}]}\n\n`))
  const parts = window.parts()
  t.is(parts.length, 1001)
  t.true(parts.some(({ text }) => text.includes('secret')))
  window.rewrite([{ path: ['others'], value: 'b' }])
  const told = window.rest().toString()
  t.false(told.includes('secret'))
  t.is(told.split('"b"').length, 2)
})
