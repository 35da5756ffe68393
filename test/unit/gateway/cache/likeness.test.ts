import test from 'ava'
import { type LikenessRule, likenessOf } from '../../../../src/gateway/cache/likeness.ts'

const strict: LikenessRule = { maxTemperature: 1, tools: false, media: false }
const user = (content: unknown) => ({ role: 'user', content })
const image = { type: 'image_url', image_url: { url: 'data:,' } }

const never: readonly (readonly [what: string, json: unknown])[] = [
  ['no object', [user('a')]],
  ['no messages', { prompt: 'a' }],
  ['messages without roles', { messages: ['a'] }],
  ['nothing of the user at the end', { messages: [user('a'), { role: 'assistant', content: 'b' }] }],
  ['an empty text', { messages: [user(' ')] }],
  ['a long text', { messages: [user('a'.repeat(8001))] }],
  ['a temperature above the bound', { temperature: 1.1, messages: [user('a')] }],
  ['a temperature that is none', { temperature: 'hot', messages: [user('a')] }],
  ['tools', { tools: [{}], messages: [user('a')] }],
  ['functions', { functions: [{}], messages: [user('a')] }],
  ['a web search', { web_search_options: {}, messages: [user('a')] }],
  [
    'a call of a tool before',
    { messages: [user('a'), { role: 'assistant', tool_calls: [{}] }, { role: 'tool', content: 'b' }, user('c')] },
  ],
  [
    'a result of a tool',
    {
      messages: [
        user([
          { type: 'tool_result', content: 'b' },
          { type: 'text', text: 'a' },
        ]),
      ],
    },
  ],
  ['an image', { messages: [user([{ type: 'text', text: 'a' }, image])] }],
  ['an image before', { messages: [user([image]), { role: 'assistant', content: 'b' }, user('c')] }],
]
for (const [what, json] of never) test(`never compared: ${what}`, (t) => t.is(likenessOf(json, strict), null))

test('compares the last messages of the user, and leaves all else to be equal', (t) => {
  const before = [{ role: 'system', content: 's' }, user('old'), { role: 'assistant', content: 'b' }]
  const json = { model: 'm', tools: [], temperature: 0, messages: [...before, user('one'), user([{ type: 'text', text: 'two' }])] }
  t.deepEqual(likenessOf(json, strict), {
    text: 'one\ntwo',
    rest: [{ ...json, messages: [...before, user(null), user([{ type: 'text', text: null }])] }, []],
  })
})

test('compares requests with tools and images where that is asked for', (t) => {
  const json = { tools: [{ name: 'f' }], messages: [user([{ type: 'text', text: 'a' }, image])] }
  t.is(likenessOf(json, { ...strict, tools: true }), null)
  t.is(likenessOf(json, { ...strict, media: true }), null)
  t.deepEqual(likenessOf(json, { ...strict, tools: true, media: true })?.rest, [
    { ...json, messages: [user([{ type: 'text', text: null }, image])] },
    [],
  ])
})

const figures: readonly (readonly [text: string, figures: readonly string[]])[] = [
  ['Cancel order 12.', ['12']],
  ['Cancel order #A-12, please!', ['#a-12']],
  ['On 2024-05-01 at 3:30 from a.b@example.com?', ['2024-05-01', '3:30', 'a.b@example.com']],
  ['Read https://example.com/x/y now', ['https://example.com/x/y']],
  ['Ist ² mehr als ٣', ['²', '٣']],
  ['No figures at all', []],
]
for (const [text, expected] of figures)
  test(`what stands for one thing only must be equal: ${text}`, (t) => {
    const rest = likenessOf({ messages: [user(text)] }, strict)?.rest
    t.deepEqual(Array.isArray(rest) ? rest[1] : null, expected)
  })
