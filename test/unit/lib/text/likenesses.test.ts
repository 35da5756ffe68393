import test from 'ava'
import { likeness, nameLikenesses, uriLikenesses } from '../../../../src/lib/text/likenesses.ts'
import { askedForms, thingForms, uriText } from '../../../../src/lib/text/thing-forms.ts'

const meet = (one: readonly string[], other: readonly string[]): boolean => one.some((form) => other.includes(form))
const namesMeet = (one: string, other: string) => meet(nameLikenesses(one).forms, nameLikenesses(other).forms)
const addressesMeet = (one: string, other: string) => meet(uriLikenesses(one).forms.map(uriText), uriLikenesses(other).forms.map(uriText))

/** Each row has names, or addresses, for which some reader takes the same. */
const alikeNames: Readonly<Record<string, readonly string[]>> = {
  'case, width and blanks': ['delete', 'DELETE', ' delete', 'delete\t', 'ｄｅｌｅｔｅ', '\u3000delete', 'delete\u2028'],
  'letters that nobody sees': [
    'delete',
    'delete\u200b',
    'del\u00adete',
    'de\u200dlete',
    '\ufeffdelete',
    'delete\ufe0f',
    'dele\u2060te',
    'd\u180eelete',
  ],
  'the end of a text within it': ['delete', 'delete\0.png', 'delete\nmore', 'delete\r\n'],
  'one letter in several ways': ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9'],
  'case in one direction': ['straße', 'STRASSE', 'straſſe'],
  'letters of Turkish': ['list', 'LIST', 'LİST', 'lıst'],
  ligatures: ['file', 'ﬁle', 'FILE'],
}
const alikeAddresses: Readonly<Record<string, readonly string[]>> = {
  'a page': [
    'http://h/secret',
    'https://h/secret',
    'HTTP://H/SECRET',
    'http://h./secret',
    'http://h:80/secret',
    'https://h:443/secret',
    'http://u:p@h/secret',
    'http://h/secret/',
    'http://h//secret',
    'http:\\\\h\\secret',
    'http:h/secret',
    '//h/secret',
    'http://h/secret#part',
    'http://h/secret?',
    'http://h/secret.',
    'http://h/secret%20',
    'http://h/secret%00.png',
    'http://h/secret%2500.png',
    'http://h/%73ecret',
    'http://h/%2573ecret',
    'http://h/se\u200bcret',
    'http://h/ｓecret',
    'http://%68/secret',
    'http://h/x/../secret',
  ],
  'a query': [
    'http://h/s?a=1&b=2',
    'http://h/s?b=2&a=1',
    'http://h/s?a=1&&b=2&',
    'http://h/s?a=1&b=2#x',
    'http://h/s?a=%31&b=2',
    'http://h:80/s?b=2&a=1',
  ],
  'a host with letters beyond ASCII': [
    'http://bücher.example/x',
    'http://xn--bcher-kva.example/x',
    'http://B\u00dcCHER.example:80/x',
    'http://bu\u0308cher.example/x',
  ],
  'a file': [
    'file:///a.txt',
    'file://localhost/a.txt',
    'file:/a.txt',
    'file:a.txt',
    '/a.txt',
    'file:////a.txt',
    'file:///a.txt::$DATA',
    'FILE:///A.TXT',
  ],
  'an address of this host': [
    'http://127.0.0.1/s',
    'http://127.1/s',
    'http://2130706433/s',
    'http://[::ffff:127.0.0.1]/s',
    'http://localhost/s',
  ],
  'a path with letters beyond ASCII': ['http://h/ü', 'http://h/%C3%BC', 'http://h/u\u0308', 'http://h/%C3%9C'],
  'a plus': ['http://h/a+b', 'http://h/a%2Bb', 'http://h/a%20b', 'http://h/a b'],
  'an escaped slash': ['http://h/a/b', 'http://h/a%2Fb', 'http://h/a%5cb'],
  'parameters of a path': ['http://h/a;v=1/b', 'http://h/a;v=1;/b', 'http://h/a/b;v=1'],
  'an own scheme': ['db://t/x', 'DB://t/x', 'db://u@t/x', 'db://t/%78', 'db:///t/x'],
}

for (const [what, rows] of Object.entries({ ...alikeNames, ...alikeAddresses }))
  test(`alike, whichever of them the rule has: ${what}`, (t) => {
    const alike = what in alikeNames ? namesMeet : addressesMeet
    for (const rule of rows)
      for (const asked of rows) {
        t.true(alike(rule, asked), JSON.stringify([rule, asked]))
        t.true(meet(askedForms(asked), thingForms(rule)), JSON.stringify(['policy', rule, asked]))
      }
  })

const different: readonly (readonly [string, string])[] = [
  ['http://h/secret', 'http://h/secrets'],
  ['http://h/secret', 'http://h/secret/of/others'],
  ['http://h/secret', 'http://other/secret'],
  ['http://h/secret', 'http://h:8080/secret'],
  ['http://h/secret', 'ftp://h/secret'],
  ['http://h/s?a=1', 'http://h/s?a=2'],
  ['http://h/a;v=1', 'http://h/a;v=2'],
  ['data:text/plain;base64,YQ==', 'data:text/plain;base64,Yg=='],
  ['urn:isbn:1', 'urn:isbn:2'],
  ['file:///a.txt', 'file:///b.txt'],
]

test('addresses of different things have no form in common', (t) => {
  for (const [one, other] of different) t.false(addressesMeet(one, other), JSON.stringify([one, other]))
  for (const [one, other] of [
    ['read', 'reads'],
    ['read_a', 'read-a'],
    ['か', 'が'],
    ['e', 'é'],
  ] as const)
    t.false(namesMeet(one, other), one)
})

test('an address is not whole if it cannot be known what its readers take it for', (t) => {
  for (const uri of [
    'file:///a/../b',
    'file:///a/．．/b',
    'file:///a/.\u200b./b',
    'file:///a/‥/b',
    'file:///a/%2e%2e/b',
    'file:///a/%252525252e/b',
    'file:///a/%c0%ae',
    'file:///a/％41',
    `file:///e${'\u0301'.repeat(10)}`,
    `file:///e${'\u0301\u200b'.repeat(10)}`,
    `file:///${encodeURIComponent(`e${'\u0301'.repeat(10)}`)}`,
  ])
    t.false(uriLikenesses(uri).isWhole, uri)
  for (const uri of ['file:///a/.b/c..d', 'http://h/%25', `file:///e${'\u0301'.repeat(9)}`, 'http://h/%C3%BC?a=%20'])
    t.true(uriLikenesses(uri).isWhole, uri)
  t.false(nameLikenesses(`e${'\u0301'.repeat(10)}`).isWhole)
  t.true(nameLikenesses(`e${'\u0301'.repeat(9)}`).isWhole)
})

const isMark = (letter: string) => /^[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u.test(letter)

test('a letter that becomes marks counts as a mark, and as three at most', (t) => {
  let most = 0
  for (let code = 0; code <= 0x10_ffff; code += 1) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue
    const letter = String.fromCodePoint(code)
    const apart = Array.from(letter.normalize('NFKD'))
    if (/^\p{M}/u.test(apart[0] ?? '')) t.true(isMark(letter), code.toString(16))
    if (isMark(letter)) most = Math.max(most, apart.length)
  }
  t.is(most, 3)
  // A rule with so many marks that it has no form is alike to no name that is whole.
  t.is(likeness(`e${'\u0301'.repeat(31)}`), '')
  t.not(likeness(`e${'\u0301'.repeat(30)}`), '')
})
