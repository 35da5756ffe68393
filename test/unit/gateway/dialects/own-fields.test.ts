import test from 'ava'
import { withoutForeignReasoning } from '../../../../src/gateway/dialects/anthropic/own-fields.ts'
import { googleCodec } from '../../../../src/gateway/dialects/google/codec.ts'
import { withoutCarriers } from '../../../../src/gateway/dialects/google/own-fields.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { Loss } from '../../../../src/gateway/dialects/neutral/loss.ts'
import type { Fields } from '../../../../src/lib/json/fields.ts'
import { contextFor } from '../../../support/dialects/laws.ts'

/** Returns a request as its provider gets it, with the names of the losses; `same`: it goes on as it is. */
function cleaned(body: Fields, clean: (body: Fields, loss: Loss) => Fields) {
  const loss = new Loss({ names: {}, provider: 'provider', strict: false })
  const own = clean(body, loss)
  return { own: own === body ? 'same' : own, dropped: loss.dropped }
}

const thinking = { type: 'enabled', budget_tokens: 2000 }
const foreign = { type: 'thinking', thinking: 'hm', signature: 'gh1:google:c2ln' }
const unsigned = { type: 'thinking', thinking: 'hm', signature: 'gh1::' }
const sealed = { type: 'redacted_thinking', data: 'gh1:openai:rs_1:abc' }
const signed = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
const call = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
const asks = { role: 'user', content: 'hi' }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }] }
const said = (...content: readonly object[]) => ({ role: 'assistant', content })

const rows: readonly (readonly [name: string, body: Fields, own: unknown, dropped: readonly string[]])[] = [
  ['what Claude signed stays', { thinking, messages: [asks, said(signed, call), result] }, 'same', []],
  [
    'what others signed goes, and with it the thinking that cannot begin in the midst of a turn',
    { thinking, messages: [asks, said(foreign, sealed, call), result] },
    { messages: [asks, said(call), result] },
    ['messages[1].content[0]', 'messages[1].content[1]', 'thinking'],
  ],
  [
    'a turn that is over needs none',
    { thinking, messages: [asks, said(unsigned, call), result, said({ type: 'text', text: 'x' }), asks] },
    { thinking, messages: [asks, said(call), result, said({ type: 'text', text: 'x' }), asks] },
    ['messages[1].content[0]'],
  ],
  [
    'a model that thinks as it sees fit goes on, and a message of nothing else is none',
    { thinking: { type: 'adaptive' }, messages: [asks, said(foreign), asks] },
    { thinking: { type: 'adaptive' }, messages: [asks, asks] },
    ['messages[1].content[0]'],
  ],
]
for (const [name, body, own, dropped] of rows)
  test(`reasoning in a request that goes to Claude as it is: ${name}`, (t) => {
    t.deepEqual(cleaned(body, withoutForeignReasoning), { own, dropped })
  })

const asked = (model: string, contents: readonly object[]) => cleaned({ contents }, (body, loss) => withoutCarriers(body, model, loss))

/** A call of another vendor's model, as Google's client gets it. */
const carried = (origin: 'anthropic' | null) =>
  googleCodec.answer.encode(
    foldEvents([
      { type: 'block-start', choice: 0, block: { kind: 'reasoning' } },
      { type: 'delta', choice: 0, text: 'hm' },
      { type: 'block-end', choice: 0, end: { signature: origin === null ? null : { origin, value: 'sig' }, redacted: false } },
      { type: 'block-start', choice: 0, block: { kind: 'tool-call', id: 'c1', name: 'f', custom: false } },
      { type: 'block-end', choice: 0, end: { signature: null, redacted: false } },
    ]),
    contextFor('google'),
  ) as { readonly candidates: readonly [{ readonly content: Fields }] }

for (const origin of ['anthropic', null] as const)
  test(`a call of another model goes to Gemini with the mark that it documents for such calls: signed by ${origin}`, (t) => {
    const [{ content }] = carried(origin).candidates
    const after = { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'f', response: {} } }] }
    const before = { role: 'user', parts: [{ text: 'hi' }] }
    const functionCall = { id: 'c1', name: 'f', args: {} }
    const plain = { role: 'model', parts: [{ functionCall }] }
    const marked = { role: 'model', parts: [{ functionCall, thoughtSignature: 'skip_thought_signature_validator' }] }
    t.deepEqual(asked('gemini-3-pro-preview', [before, content, after]), {
      own: { contents: [before, marked, after] },
      dropped: ['contents[1] (the reasoning before the call)'],
    })
    t.deepEqual(asked('gemini-2.5-flash', [before, content, after]).own, { contents: [before, plain, after] })
    t.deepEqual(asked('gemini-3-pro-preview', [before, content, after, before]).own, { contents: [before, plain, after, before] })
    t.is(asked('gemini-3-pro-preview', [before, marked, after]).own, 'same')
  })
