import test from 'ava'
import { createTokens } from '../../../../../src/gateway/callers/tokens/tokens.ts'
import type { Egress } from '../../../../../src/gateway/egress/egress.ts'

const unused = () => Promise.reject(new Error('nothing is verified here'))
const egress: Egress = { origin: unused, exchange: unused, resolves: unused, ownedBy: () => egress, close: unused }

test('what looks like a token is one, unless the operator chose it as a key', (t) => {
  const chosen = `eyJ${'a'.repeat(30)}.bbb.ccc`
  const tokens = createTokens({
    ownAudience: null,
    snapshot: { tokenIssuer: unused, tokenHolder: unused },
    egress,
    now: Date.now,
    prefixes: ['service'],
    explains: () => true,
    reads: () => true,
    spent: () => false,
    chosenKeys: new Set([chosen]),
  })
  t.false(tokens.isToken(chosen))
  t.true(tokens.isToken(`${chosen}c`))
  t.false(tokens.isToken('gh-not-a-token'))
})
