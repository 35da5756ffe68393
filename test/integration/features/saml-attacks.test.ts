import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { errorOf } from '../../support/caller.ts'
import type { RawAnswer } from '../../support/http.ts'
import { slowness } from '../../support/machine.ts'
import { publicUrl } from '../../support/oidc/browser.ts'
import { openSamlBrowser, type SamlBrowser } from '../../support/saml/browser.ts'
import { assertionOf, craft, craftXml, makeIdp, requestIn, signXml, type CraftedIdp, type Crafting } from '../../support/saml/crafted.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let idp: CraftedIdp
let stranger: CraftedIdp
let own: Tenant
let theirs: Tenant
let certificate = ''

const login = '/auth/saml/own/login'
const acs = '/auth/saml/own/acs'
const acsUrl = `${publicUrl}${acs}`
const entityId = `${publicUrl}/auth/saml/own/metadata`
const attributes = { email: ['ada@own.example'], givenName: ['Ada'] }

const put = async ({ adminKey }: Tenant, body: Readonly<Record<string, unknown>>) => {
  const { status, text, body: answer } = await control.call(adminKey, 'PUT', '/admin/organisation/sso', { type: 'saml', ...body })
  if (status !== 200) throw new Error(text)
  return answer as { saml: { sp_certificate: string } }
}

test.before(async () => {
  ;[idp, stranger] = await Promise.all([makeIdp('https://idp.example'), makeIdp('https://stranger.example')])
  control = await startControl({}, { PUBLIC_URL: publicUrl, ORGANISATION_DOMAINS: 'own=own.example,theirs=theirs.example' })
  own = await control.createTenant('own')
  theirs = await control.createTenant('theirs')
  const settings = { domains: ['own.example'], auto_provision: true }
  const set = await put(own, { ...settings, metadata_xml: idp.metadata() })
  certificate = set.saml.sp_certificate
  // Two organisations may share a provider, which distinguishes them by their entity ids.
  await put(theirs, { domains: ['theirs.example'], auto_provision: true, metadata_xml: idp.metadata() })
})
test.after.always(() => control?.close())

interface Begun {
  readonly browser: SamlBrowser
  readonly base: Crafting
}

async function begin(path = login): Promise<Begun> {
  const browser = openSamlBrowser(control.origin)
  const { id } = requestIn(await browser.leave(path))
  return { browser, base: { idp, acsUrl, entityId, inResponseTo: id, attributes } }
}

const come = ({ browser }: Begun, SAMLResponse: string, to = acs): Promise<RawAnswer> => browser.post(to, { SAMLResponse })

const isIn = ({ browser }: Begun): boolean => browser.cookies.has('__Host-gatehouse')

function refused(t: ExecutionContext, begun: Begun, answer: RawAnswer, message: RegExp, status = 401): void {
  t.is(answer.status, status, answer.text)
  t.is(errorOf(answer).code, status === 401 ? 'AB05' : 'AB03')
  t.regex(errorOf(answer).message, message)
  t.false(isIn(begun))
}

test.serial('without an attack somebody gets in, so that what follows fails for its own reason', async (t) => {
  for (const sign of ['assertion', 'both'] as const) {
    const begun = await begin()
    const answer = await come(begun, await craft({ ...begun.base, sign }))
    t.is(answer.status, 303, answer.text)
    t.true(isIn(begun))
  }
})

/** Attacks by changed contents, by name. */
const told: readonly (readonly [string, Partial<Crafting>, RegExp, number?])[] = [
  ['an assertion that nobody signed', { sign: 'none' }, /Invalid signature|signed/],
  ['only the response is signed', { sign: 'response' }, /Invalid signature/],
  ['an expired assertion', { notBefore: -600, notOnOrAfter: -120 }, /expired/],
  ['an assertion of the future', { notBefore: 300, notOnOrAfter: 600 }, /not (yet valid|valid yet)/],
  ['another audience', { audience: `${publicUrl}/auth/saml/theirs/metadata` }, /audience/],
  ['another recipient', { recipient: `${publicUrl}/auth/saml/theirs/acs` }, /Recipient/],
  ['another destination', { destination: 'https://elsewhere.example/acs' }, /Destination/],
  ['another issuer', { issuer: 'https://stranger.example' }, /another provider/],
  ['a request that nobody made', { inResponseTo: `_${'0'.repeat(64)}` }, /did not begin in this browser/],
  ['a request id that is none', { inResponseTo: '_1' }, /did not begin in this browser/],
  ['a response to another request than its assertion', { responseInResponseTo: `_${'1'.repeat(64)}` }, /differ/],
  ['nobody asked (IdP-initiated, off)', { inResponseTo: null }, /begin here/],
  ['the session at the provider has ended', { sessionUntil: -1 }, /has ended/],
  ['the provider says no', { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }, /refused the sign-in/, 403],
  ['algorithm downgrade: RSA with SHA-1', { signature: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }, /rsa-sha1/],
  ['algorithm downgrade: digest SHA-1', { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }, /sha1/],
  ['a NameID that changes each time', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, /transient/, 403],
  ['an address of a domain of others', { nameId: 'eve', attributes: { email: ['eve@theirs.example'] } }, /does not own/, 403],
  ['a document type (XXE)', { after: (xml) => `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml}` }, /document type/],
  ['entities that grow', { after: (xml) => `<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>${xml}` }, /document type/],
  [
    'comment injection in NameID',
    {
      nameId: 'ada-1.evil',
      attributes: { email: ['eve@own.example'] },
      after: (xml) => xml.replace('ada-1.evil', 'ada-1<!-- -->.evil'),
    },
    /comment/,
  ],
  [
    'comment injection in the address',
    { nameId: 'eve', after: (xml) => xml.replace('ada@own.example', 'ada@own.example<!-- -->.evil.example') },
    /comment/,
  ],
  ['a processing instruction in NameID', { after: (xml) => xml.replace('>ada-1<', '>ada-1<?x y?><') }, /processing instruction/],
  ['a changed NameID', { after: (xml) => xml.replace('>ada-1<', '>bob-1<') }, /Invalid signature/],
  ['a signature of another provider', { key: 'stranger' }, /Invalid signature/],
  ['no XML', { after: () => 'SAML' }, /XML/],
  ['another kind of message', { after: (xml) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse') }, /no SAML response/],
]

for (const [name, crafting, message, status] of told)
  test.serial(`refused: ${name}`, async (t) => {
    const begun = await begin()
    const more = crafting.key === 'stranger' ? { key: stranger.keys.privateKey } : {}
    refused(t, begun, await come(begun, await craft({ ...begun.base, ...crafting, ...more })), message, status)
  })

test.serial('refused: algorithm downgrade to a keyed hash, with the certificate as the key', async (t) => {
  const begun = await begin()
  const signature = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'
  refused(t, begun, await come(begun, await craft({ ...begun.base, signature, key: idp.keys.certificate })), /hmac/)
})

const eve = { email: ['eve@own.example'] }
const head = (xml: string) => xml.slice(0, xml.indexOf('<saml:Assertion'))
const signedIn = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? ''
const signatureIn = (xml: string) => /<ds:Signature[\s\S]*<\/ds:Signature>/.exec(xml)?.[0] ?? ''

/** Signature wrapping: a signed assertion is in the document, and another one with other words (XSW of Somorovsky et al.). */
const wrappings: readonly (readonly [string, (signed: string, evil: string) => string])[] = [
  ['XSW1: the signed response inside the signature of an evil one', (signed, evil) => wrapResponse(signed, evil, 'inside')],
  ['XSW2: the signed response before the signature of an evil one', (signed, evil) => wrapResponse(signed, evil, 'beside')],
  ['XSW3: an evil assertion before the signed one', (signed, evil) => `${head(signed)}${evil}${signedIn(signed)}</samlp:Response>`],
  [
    'XSW4: the signed assertion inside an evil one',
    (signed, evil) => `${head(signed)}${evil.replace('</saml:Assertion>', `${signedIn(signed)}</saml:Assertion>`)}</samlp:Response>`,
  ],
  [
    'XSW5: an evil assertion has the signature of the original, which stands at the end',
    (signed, evil) =>
      `${head(signed)}${evil.replace('</saml:Issuer>', `</saml:Issuer>${signatureIn(signed)}`)}${signedIn(signed).replace(signatureIn(signed), '')}</samlp:Response>`,
  ],
  [
    'XSW6: the original inside the signature that an evil assertion has',
    (signed, evil) => {
      const inner = signatureIn(signed).replace('</ds:Signature>', `${signedIn(signed).replace(signatureIn(signed), '')}</ds:Signature>`)
      return `${head(signed)}${evil.replace('</saml:Issuer>', `</saml:Issuer>${inner}`)}</samlp:Response>`
    },
  ],
  [
    'XSW7: an evil assertion in Extensions',
    (signed, evil) => signed.replace('<saml:Assertion', `<samlp:Extensions>${evil}</samlp:Extensions><saml:Assertion`),
  ],
  [
    'XSW8: the original in an Object of the signature that an evil assertion has',
    (signed, evil) => {
      const original = signedIn(signed).replace(signatureIn(signed), '')
      const inner = signatureIn(signed).replace('</ds:Signature>', `<ds:Object>${original}</ds:Object></ds:Signature>`)
      return `${head(signed)}${evil.replace('</saml:Issuer>', `</saml:Issuer>${inner}`)}</samlp:Response>`
    },
  ],
  [
    'an evil assertion with the ID of the signed one',
    (signed, evil) => {
      const id = /<saml:Assertion[^>]* ID="([^"]+)"/.exec(signed)?.[1] ?? ''
      return `${head(signed)}${evil.replace(/ ID="[^"]+"/, ` ID="${id}"`)}${signedIn(signed)}</samlp:Response>`
    },
  ],
  [
    'an evil assertion under another namespace, before the signed one',
    (signed, evil) =>
      `${head(signed)}${evil.replaceAll('urn:oasis:names:tc:SAML:2.0:assertion', 'urn:evil')}${signedIn(signed)}</samlp:Response>`,
  ],
  [
    'an unsigned response with a signed assertion elsewhere',
    (signed, evil) => `${head(signed)}${evil}<samlp:Extensions>${signedIn(signed)}</samlp:Extensions></samlp:Response>`,
  ],
]

function wrapResponse(signed: string, evil: string, where: 'inside' | 'beside'): string {
  const outer = head(signed).replace(/ ID="[^"]+"/, ' ID="_evil"')
  const clean = signed.replace(signatureIn(signed), '')
  const signature =
    where === 'inside'
      ? signatureIn(signed).replace('</ds:Signature>', `<ds:Object>${clean}</ds:Object></ds:Signature>`)
      : `${clean}${signatureIn(signed)}`
  return `${outer}${signature}${evil}</samlp:Response>`
}

for (const [name, wrap] of wrappings)
  test.serial(`refused: signature wrapping, ${name}`, async (t) => {
    const begun = await begin()
    const sign = name.startsWith('XSW1') || name.startsWith('XSW2') ? 'response' : 'assertion'
    const signed = await craftXml({ ...begun.base, sign })
    const evil = assertionOf({ ...begun.base, nameId: 'eve-1', attributes: eve })
    const attack = wrap(signed, evil)
    t.true(attack.includes('eve-1'))
    refused(t, begun, await come(begun, Buffer.from(attack).toString('base64')), /could not be verified/)
    const { rows } = await control.sql.query("SELECT 1 FROM users WHERE email = 'eve@own.example'")
    t.is(rows.length, 0)
  })

test.serial('refused: a signed assertion whose signature covers another element', async (t) => {
  const begun = await begin()
  const signed = signXml(
    `<a ID="_a"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">x</saml:Issuer>${assertionOf(begun.base)}</a>`,
    'Assertion',
    begun.base,
  )
  const evil = assertionOf({ ...begun.base, nameId: 'eve-1', attributes: eve, assertionId: '_other' })
  const moved = evil.replace('</saml:Issuer>', `</saml:Issuer>${signatureIn(signed)}`)
  const response = await craftXml({ ...begun.base, sign: 'none', after: (xml) => `${head(xml)}${moved}</samlp:Response>` })
  refused(t, begun, await come(begun, Buffer.from(response).toString('base64')), /another element/)
})

const cbc = { encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' } as const

/** Changes one byte of the ciphertext, as an attacker does who looks for an oracle. */
function flipped(response: string): string {
  const values = [...response.matchAll(/<(?:\w+:)?CipherValue>([^<]+)</g)].map(([, value]) => value ?? '')
  const longest = values.toSorted((one, other) => other.length - one.length)[0] ?? ''
  const bytes = Buffer.from(longest, 'base64')
  bytes[200] = (bytes[200] ?? 0) ^ 1
  return response.replace(longest, bytes.toString('base64'))
}

test.serial('refused: encrypted assertions that are not signed, or weak, or changed, always in the same words', async (t) => {
  const cases: readonly Partial<Crafting>[] = [
    { sign: 'none' },
    { sign: 'response' },
    { key: stranger.keys.privateKey },
    { signature: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' },
    { before: (xml) => xml.replace('<saml:Subject>', `${xml}<saml:Subject>`) },
    { before: (xml) => xml.replace('>ada-1<', '>ada-1<!-- --><') },
    { encryption: { keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' } },
    { encryption: { encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc' } },
    { encryptFor: stranger.keys.certificate },
    { encryption: cbc, after: flipped },
  ]
  const messages = new Set<string>()
  for (const crafting of cases) {
    const begun = await begin()
    const answer = await come(begun, await craft({ ...begun.base, encryptFor: certificate, ...crafting }))
    refused(t, begun, answer, /encrypted assertion cannot be read/)
    messages.add(errorOf(answer).message)
  }
  t.is(messages.size, 1)
  const begun = await begin()
  t.is((await come(begun, await craft({ ...begun.base, encryptFor: certificate, encryption: cbc }))).status, 303)
})

test.serial('refused: a response that comes twice, here and at another process', async (t) => {
  const other = await control.openBeside()
  const begun = await begin()
  const response = await craft(begun.base)
  const header = [...begun.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const again = (origin: string) =>
    fetch(`${origin}${acs}`, {
      method: 'POST',
      headers: { cookie: header },
      body: new URLSearchParams({ SAMLResponse: response }),
      redirect: 'manual',
    })
  t.is((await come(begun, response)).status, 303)
  for (const origin of [control.origin, other]) {
    const answer = await again(origin)
    t.is(answer.status, 401)
    t.regex(await answer.text(), /has been used/)
    t.false(answer.headers.getSetCookie().some((text) => text.startsWith('__Host-gatehouse=')))
  }
})

test.serial('refused: of many processes and browsers that show one response at once, all but one', async (t) => {
  const other = await control.openBeside()
  const begun = await begin()
  const body = new URLSearchParams({ SAMLResponse: await craft(begun.base) }).toString()
  const cookie = [...begun.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      fetch(`${at % 2 === 0 ? control.origin : other}${acs}`, { method: 'POST', headers, body, redirect: 'manual' }),
    ),
  )
  t.is(answers.filter(({ status }) => status === 303).length, 1)
  t.is(answers.filter(({ status }) => status === 401).length, 7)
})

test.serial('refused: a response in a browser that did not ask (login CSRF)', async (t) => {
  const begun = await begin()
  const victim = await begin()
  refused(t, victim, await come(victim, await craft(begun.base)), /did not begin in this browser/)
})

test.serial('refused: the response of an organisation at another one, which has the same provider', async (t) => {
  const begun = await begin()
  const response = await craft(begun.base)
  refused(t, begun, await come(begun, response, '/auth/saml/theirs/acs'), /Destination/)
  // Not even one that the provider made for the other one, in a browser that left for this one.
  const there = await craft({
    ...begun.base,
    acsUrl: `${publicUrl}/auth/saml/theirs/acs`,
    entityId: `${publicUrl}/auth/saml/theirs/metadata`,
  })
  refused(t, begun, await come(begun, there, '/auth/saml/theirs/acs'), /changed meanwhile/)
})

test.serial('the same response may be sent as it was made after all of that: nothing was used up', async (t) => {
  const begun = await begin()
  const response = await craft(begun.base)
  refused(t, begun, await come(begun, Buffer.from('<a/>').toString('base64')), /no SAML response/)
  t.is((await come(begun, response)).status, 303)
})

/** Pieces of which a changed response is made. */
const pieces = [
  '<',
  '>',
  '"',
  '&amp;',
  '&#0;',
  '<!-- x -->',
  '<?x y?>',
  '<![CDATA[eve-1]]>',
  'eve@own.example',
  '<saml:NameID>eve-1</saml:NameID>',
  '<saml:Assertion>',
  '</saml:Assertion>',
  '</saml:Subject>',
  ' ID="_evil"',
  ' xmlns:saml="urn:evil"',
  ' xmlns="urn:oasis:names:tc:SAML:2.0:assertion"',
  '\u0000',
  '\r\n',
  '\uFFFD',
  '',
]

test.serial('a response that is changed anywhere is refused, or says the same: nobody becomes somebody else', async (t) => {
  const runs = 250
  const changes = fc.sample(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(40),
      piece: fc.constantFrom(...pieces),
      encrypts: fc.boolean(),
    }),
    { numRuns: runs, seed: 20_261_127 },
  )
  const seen = new Map<number, number>()
  for (const { at, length, piece, encrypts } of changes) {
    const begun = await begin()
    const change = (xml: string): string => {
      const start = Math.floor(at * xml.length)
      return xml.slice(0, start) + piece + xml.slice(start + length)
    }
    const answer = await come(begun, await craft({ ...begun.base, after: change, ...(encrypts && { encryptFor: certificate }) }))
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    t.true([303, 401, 403].includes(answer.status), `${piece} at ${at}: ${answer.status} ${answer.text}`)
    if (answer.status === 303) t.true((await begun.browser.get('/auth/me')).text.includes('"ada@own.example"'))
  }
  t.true((seen.get(401) ?? 0) > runs / 2, JSON.stringify([...seen]))
})

/** A signature that names an element and is none. */
const junk = `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>
  <CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>
  <SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>
  <Reference URI="#_a"><Transforms><Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>
  <Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></Transforms>
  <DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue>AAAA</DigestValue></Reference>
  </SignedInfo><SignatureValue>AAAA</SignatureValue></Signature>`

interface LargeDocument {
  readonly ofRoot?: string
  readonly ofAssertion?: string
  readonly body?: string
}

const documentOf = ({ ofRoot = '', ofAssertion = '', body = '' }: LargeDocument) =>
  `<Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r" Version="2.0" ${ofRoot}><Status><StatusCode
     Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></Status><Assertion xmlns="urn:oasis:names:tc:SAML:2.0:assertion" ID="_a"
     Version="2.0" ${ofAssertion}>${junk}${body}</Assertion></Response>`

const many = (count: number, write: (at: number) => string) => Array.from({ length: count }, (_, at) => write(at)).join(' ')

/** Documents with so many of a thing: one of the bound costs little, and more than the bound is refused before a signature is looked at. */
const large: Readonly<Record<string, { readonly bound: number; readonly write: (count: number) => LargeDocument }>> = {
  elements: { bound: 980, write: (count) => ({ body: many(count, () => '<x>t</x>') }) },
  'attributes of one element': { bound: 1_970, write: (count) => ({ ofAssertion: many(count, (at) => `a${at}=""`) }) },
  'attributes of many elements': { bound: 1_970, write: (count) => ({ body: many(count / 2, () => '<x a="1" b="2"/>') }) },
  'namespaces of one element': { bound: 190, write: (count) => ({ ofAssertion: many(count, (at) => `xmlns:a${at}="u"`) }) },
  'namespaces above many elements': {
    bound: 190,
    write: (count) => ({ ofRoot: many(count, (at) => `xmlns:a${at}="u"`), body: many(950, () => '<x a="1">b</x>') }),
  },
}

/** Milliseconds of CPU for a document at the bounds, on a machine that is not busy. */
const mostMs = 1500

/** Sends a document, and returns the answer with the milliseconds of CPU that it took. */
async function timed(written: LargeDocument) {
  const SAMLResponse = Buffer.from(documentOf(written)).toString('base64')
  const before = process.threadCpuUsage()
  const answer = await openSamlBrowser(control.origin).post(acs, { SAMLResponse })
  const { user, system } = process.threadCpuUsage(before)
  return { answer, ms: (user + system) / 1000 }
}

for (const [name, { bound, write }] of Object.entries(large))
  test.serial(`a document with many parts keeps nobody waiting: ${name}`, async (t) => {
    const [within, beyond] = [await timed(write(bound)), await timed(write(bound * 5))]
    t.is(within.answer.status, 401, within.answer.text)
    t.notRegex(errorOf(within.answer).message, /too large/)
    t.true(within.ms < mostMs * slowness(), `${Math.round(within.ms)} ms`)
    t.log(`${Math.round(within.ms)} ms, ${Math.round(beyond.ms)} ms`)
    t.regex(errorOf(beyond.answer).message, /too large/)
    t.true(beyond.ms < mostMs * slowness(), `${Math.round(beyond.ms)} ms`)
  })
