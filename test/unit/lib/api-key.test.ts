import test from 'ava'
import { createApiKey, createSignInToken, holdsApiKey, isApiKey, isSignInToken, keyHint } from '../../../src/lib/api-key.ts'

test('a key is gh-, 43 random and 6 checksum characters, and never the same', (t) => {
  const keys = Array.from({ length: 1000 }, createApiKey)
  t.is(new Set(keys).size, keys.length)
  for (const key of keys) t.regex(key, /^gh-[0-9A-Za-z]{49}$/)
  t.true(keys.every(isApiKey))
})

test('a key with one character changed is no key', (t) => {
  const key = createApiKey()
  for (let index = 0; index < key.length; index += 1) {
    const other = key[index] === 'A' ? 'B' : 'A'
    t.false(isApiKey(key.slice(0, index) + other + key.slice(index + 1)), `position ${index}`)
  }
})

test('what is no key of ours at all', (t) => {
  for (const text of ['', 'gh-', 'DUMMY-KEY', 'sk-proj-1234', `${createApiKey()}x`, `gh-${'A'.repeat(49)}`]) t.false(isApiKey(text), text)
})

test('a hint shows the last four characters and nothing else', (t) => {
  t.is(keyHint(`gh-${'x'.repeat(45)}Zx81`), 'gh-...Zx81')
  t.is(keyHint('an operator chose this key of 40 letters'), '...ters')
})

test('a token of a program has the form of a key and is none, and both are found within texts', (t) => {
  const [token, key] = [createSignInToken(), createApiKey()]
  t.regex(token, /^gho-[0-9A-Za-z]{49}$/)
  t.deepEqual([isSignInToken(token), isApiKey(token), isSignInToken(key)], [true, false, false])
  t.false(isSignInToken(`gho-${key.slice(3)}`), 'the checksum is of the whole')
  for (const text of [token, key, `Bearer ${token}`, `{"k":"${key}"}`, `gho-gho-${token}`]) t.true(holdsApiKey(text), text)
  t.false(holdsApiKey(token.slice(0, -1)))
})
