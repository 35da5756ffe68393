import { z } from 'zod'
import { requestPlace, withoutSecrets } from '../../../src/app/audit/mask.ts'
import { projectionOf, project } from '../../../src/features/scim/schema/project.ts'
import { parameterSecrets } from '../../../src/gateway/checks/parameter-secrets.ts'
import { containingSecrets } from '../../../src/lib/json/secret-fields.ts'
import { maskSecrets } from '../../../src/lib/text/masked-secrets.ts'
import { withoutUrlCredentials } from '../../../src/gateway/ending/query-keys.ts'
import { readMetadata } from '../../../src/features/identity-providers/saml/metadata.ts'
import { parseStrictXml } from '../../../src/features/identity-providers/saml/strict-xml.ts'
import { createLabelBody } from '../../../src/features/labels/label.schema.ts'
import { parseFilter, parsePath } from '../../../src/features/scim/filter/parse-filter.ts'
import { applyPatch } from '../../../src/features/scim/schema/patch.ts'
import { users } from '../../../src/features/scim/schema/user.ts'
import { verifyResponse } from '../../../src/features/sso/saml/verify.ts'
import { traceRequestBody } from '../../../src/features/traces/otlp.schema.ts'
import { readSpans } from '../../../src/features/traces/read-spans.ts'
import { rateHeaders } from '../../../src/gateway/answers/rate-headers.ts'
import { likenessOf } from '../../../src/gateway/cache/likeness.ts'
import { withoutEscapes } from '../../../src/gateway/checks/coded-texts.ts'
import { CountedText } from '../../../src/gateway/dialects/google/counted-text.ts'
import { patternSize, patternWork } from '../../../src/gateway/patterns/pattern-size.ts'
import { compilePrompt } from '../../../src/gateway/prompts/prompt-template.ts'
import { countTokens } from '../../../src/gateway/tokens/tokenizer.ts'
import { formValues } from '../../../src/gateway/wire/form-fields.ts'
import { createFormScan } from '../../../src/gateway/wire/form-scan.ts'
import { readForm } from '../../../src/gateway/wire/form.ts'
import { opacityOf } from '../../../src/gateway/wire/png.ts'
import { FormWatch } from '../../../src/gateway/wire/form-watch.ts'
import { recordedMs } from '../../../src/gateway/wire/recorded-length.ts'
import { traceRequest } from '../../../src/lib/otlp/messages.ts'
import { readMessage } from '../../../src/lib/otlp/protobuf.ts'
import { scrubSecrets } from '../../../src/lib/text/secret-shapes.ts'
import { render } from '../../../src/app/mail/template.ts'
import { readRoleKeys } from '../../../src/gateway/credentials/assume-role.ts'
import { withoutEnd } from '../../../src/lib/text/without-end.ts'
import { createPieceCutter } from '../../../src/app/managed/file-pieces.ts'
import { linesOf } from '../../../src/gateway/managed/input-lines.ts'
import { storeUpload } from '../../../src/gateway/managed/upload-form.ts'
import { type Door, type Feed, inPieces, refusing, repeated } from './door.ts'

type Texts = Readonly<Record<string, (length: number) => string>>

const reading = (texts: Texts, read: (text: string) => unknown): Door['shapes'] =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      (bytes: number) => {
        const made = text(bytes)
        return refusing(() => read(made))
      },
    ]),
  )

const xml: Texts = {
  'comments without end': (length) => repeated('<!--', length),
  comments: (length) => `<a>${repeated('<!---->', length)}</a>`,
  'instructions without end': (length) => repeated('<?a', length),
  instructions: (length) => `<a>${repeated('<?a?>', length)}</a>`,
  'elements in elements': (length) => repeated('<a>', length),
  'elements beside elements': (length) => `<a>${repeated('<b/>', length)}</a>`,
  'attributes of one element': (length) => `<a ${Array.from({ length: length / 12 }, (_, at) => `a${at}=""`).join(' ')}/>`,
  'one attribute many times': (length) => `<a ${repeated('a="" ', length)}/>`,
  'name spaces of one element': (length) => `<a ${Array.from({ length: length / 20 }, (_, at) => `xmlns:a${at}="u"`).join(' ')}/>`,
  'one long attribute': (length) => `<a b="${repeated('x', length)}"/>`,
  'one long text': (length) => `<a>${repeated('x', length)}</a>`,
  references: (length) => `<a>${repeated('&amp;', length)}</a>`,
  'sections of characters': (length) => `<a>${repeated('<![CDATA[x]]>', length)}</a>`,
  'brackets without end': (length) => repeated('<![CDATA[', length),
  certificates: (length) =>
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="e"><IDPSSODescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://a"/><KeyDescriptor>${Array.from({ length: length / 60 }, (_, at) => `<X509Certificate xmlns="http://www.w3.org/2000/09/xmldsig#">${at}</X509Certificate>`).join('')}</KeyDescriptor></IDPSSODescriptor></EntityDescriptor>`,
}

const runs: Texts = {
  letters: (length) => repeated('x', length),
  digits: (length) => repeated('1', length),
  spaces: (length) => `${repeated(' ', length)}!`,
  'line ends': (length) => `${repeated('\n', length)}!`,
  dots: (length) => `${repeated('.', length)}x`,
  slashes: (length) => `${repeated('/', length)}x`,
  schemes: (length) => repeated('a.', length),
  'beginnings of keys': (length) => repeated('sk-', length),
  'beginnings of blocks': (length) => repeated('-----BEGIN A-----', length),
  escapes: (length) => repeated(String.raw`\u{`, length),
  entities: (length) => repeated('&#x', length),
  'URLs with many parameters': (length) => `https://h/?${repeated('key=a&', length)}`,
  URLs: (length) => repeated('https://u:p@h/ ', length),
}

const boundary = 'multipart/form-data; boundary=b'
const form: Texts = {
  'many parts': (length) => `${repeated('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n', length)}--b--\r\n`,
  'one long part': (length) => `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${repeated('x', length)}\r\n--b--\r\n`,
  'boundaries alone': (length) => repeated('--b', length),
  'boundaries in lines': (length) => repeated('--b\r\n', length),
  'boundaries that are none': (length) => `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${repeated('\r\n--', length)}`,
  'headers without end': (length) => `--b\r\n${repeated('a: b\r\n', length)}`,
  'many parameters': (length) => `--b\r\ncontent-disposition: form-data; name="a"${repeated('; name="a"', length)}\r\n\r\n\r\n--b--\r\n`,
  'models without content': (length) => repeated('name="model"\r\n', length),
}

const uploads: Texts = {
  ...form,
  'one long file': (length) =>
    `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${repeated('x', length)}\r\n--b--\r\n`,
  'line ends in a file': (length) =>
    `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${repeated('\r\n', length)}\r\n--b--\r\n`,
}

/** Returns the shapes of texts that come whole as a socket gives them, and byte by byte. */
const arriving = (texts: Texts, read: (pieces: AsyncIterable<Buffer>) => Promise<unknown>): Door['shapes'] =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      [1, 64 * 1024].map((size) => [
        `${name}, ${size} bytes at a time`,
        (bytes: number) => {
          const made = Buffer.from(text(bytes))
          return refusing(() => read(piecesOf(made, size)))
        },
      ]),
    ),
  )

async function* piecesOf(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Stores an upload nowhere. */
async function upload(pieces: AsyncIterable<Buffer>): Promise<void> {
  const cutter = createPieceCutter()
  const stored = { id: 'f', name: 'f', bytes: 0, createdAt: 0, expiresAt: null, purpose: 'batch' }
  await storeUpload(pieces, {
    contentType: boundary,
    maxBytes: Infinity,
    facts: () => ({ purpose: 'batch', livesSeconds: null }),
    begin: async () => ({
      write: async (piece) => void cutter.add(piece),
      commit: async () => stored,
      flush: async () => 'f',
      abandon: async () => {},
    }),
  })
}

async function countLines(pieces: AsyncIterable<Buffer>): Promise<void> {
  let lines = 0
  for await (const { line } of linesOf(pieces, { longest: 1024 * 1024, blankUpTo: Infinity })) lines += line
}

const spansOf = (spans: string): string =>
  `{"resourceSpans":[{"resource":{"attributes":[${Array.from({ length: 20 }, () => '{"key":"k","value":{"stringValue":"v"}}').join(',')}]},"scopeSpans":[{"spans":[${spans}]}]}]}`
const span = (at: number): string =>
  `{"traceId":"${'a'.repeat(32)}","spanId":"${at.toString(16).padStart(16, '1')}","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000000001"}`
const spanBodies: Texts = {
  'many spans': (length) => spansOf(Array.from({ length: length / 140 }, (_, at) => span(at)).join(',')),
  'empty spans': (length) => spansOf(`${repeated('{},', length)}{}`),
  'empty resources': (length) => `{"resourceSpans":[${repeated('{},', length)}{}]}`,
  'a long resource of many spans': (length) =>
    `{"resourceSpans":[{"resource":{"attributes":[${Array.from({ length: 20 }, (_, at) => `{"key":"k${at}","value":{"stringValue":"${repeated('x', length / 40)}"}}`).join(',')}]},"scopeSpans":[{"spans":[${Array.from({ length: length / 280 }, (_, at) => span(at)).join(',')}]}]}]}`,
}

const protobuf: Readonly<Record<string, (bytes: number) => Buffer>> = {
  'empty resources': (bytes) => Buffer.from('0a00'.repeat(bytes / 2), 'hex'),
  'fields that are not known': (bytes) => Buffer.from('7801'.repeat(bytes / 2), 'hex'),
  'numbers without end': (bytes) => Buffer.alloc(bytes, 0xff),
}

const anyProvider = { issuer: 'i', clientId: 'c', redirectUri: 'https://a' }

/** Returns a feed of a PATCH whose operations add e-mail addresses. */
function patchOf(operations: number, values: number, numberOf: (operation: number, at: number) => number): Feed {
  const listed = (operation: number) =>
    Array.from({ length: Math.ceil(values) }, (_, at) => ({ value: `m${numberOf(operation, at)}@example.com` }))
  const patch = Array.from({ length: Math.ceil(operations) }, (_, at) => ({ op: 'add' as const, path: 'emails', value: listed(at) }))
  return refusing(() => applyPatch(users, {}, { operations: patch }))
}

/** Returns a feed of a PATCH that takes values out of a list by filters: operations, values and comparisons multiply. */
function filteredPatch(bytes: number): Feed {
  const values = Array.from({ length: bytes / 400 }, (_, at) => ({ value: `m${at}@example.com`, display: 'x'.repeat(200) }))
  const where = Array.from({ length: 20 }, (_, at) => `value co "z${at}"`).join(' or ')
  const operations = Array.from({ length: bytes / 400 }, () => ({ op: 'remove' as const, path: `emails[${where}]` }))
  return refusing(() => applyPatch(users, { emails: values }, { operations }))
}

/** Returns a feed of a PATCH whose filters make no comparison: a name that is not there, and a value that is missing. */
function emptyFilters(bytes: number): Feed {
  const values = Array.from({ length: Math.min(1000, bytes / 100) }, (_, at) => ({ value: `m${at}@example.com` }))
  const where = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? 'x pr' : 'display pr')).join(' or ')
  const operations = Array.from({ length: Math.min(1000, bytes / 1200) }, () => ({ op: 'remove' as const, path: `emails[${where}]` }))
  return refusing(() => applyPatch(users, { emails: values }, { operations }))
}

/** Returns a feed of a PATCH that adds one short value again and again to a list of long ones. */
function longValues(bytes: number): Feed {
  const values = Array.from({ length: Math.min(999, bytes / 400) }, (_, at) => ({ value: `${at}${'\u0001'.repeat(300)}` }))
  const operations = Array.from({ length: Math.min(1000, bytes / 400) }, () => ({ op: 'add' as const, path: 'emails', value: 'q' }))
  return refusing(() => applyPatch(users, { emails: values }, { operations }))
}

const wideUser = { schemas: [], id: 'a', emails: Array.from({ length: 500 }, (_, at) => ({ value: `m${at}@example.com`, type: 'work' })) }

/** Returns a feed of a text in pieces, and of questions for its places. */
function placesOf(pieces: readonly string[], places: number): Feed {
  return () => {
    const counted = new CountedText()
    for (const piece of pieces) counted.add(piece)
    for (let at = 0; at < places; at += 1) counted.bytesAt(counted.unitsAt(at * 7))
  }
}

/** The readers of texts, documents and forms. */
export const textDoors: readonly Door[] = [
  { name: 'metadata of an identity provider', shapes: reading(xml, readMetadata), most: 512 * 1024 },
  { name: 'a document of an identity provider', shapes: reading(xml, parseStrictXml), most: 512 * 1024 },
  {
    name: 'an answer of an identity provider',
    shapes: reading({ ...runs, ...xml }, (text) =>
      refusing(() => verifyResponse(text, { client: {} as never, provider: anyProvider as never, key: null, nowMs: 0 })),
    ),
  },
  {
    name: 'a filter of SCIM',
    shapes: reading(
      {
        ...runs,
        brackets: (length) => repeated('(', length),
        terms: (length) => `${repeated('a eq 1 and ', length)}a eq 1`,
        quotes: (length) => `a eq "${repeated('\\"', length)}`,
      },
      parseFilter,
    ),
  },
  {
    name: 'a PATCH of SCIM',
    shapes: {
      'many values by many operations': (bytes) =>
        patchOf(Math.sqrt(bytes / 30), Math.sqrt(bytes / 30), (operation, at) => operation * 1000 + at),
      'the same values by many operations': (bytes) => patchOf(bytes / 10_000, 300, (_operation, at) => at),
      'one value by each of many operations': (bytes) => patchOf(bytes / 60, 1, (operation) => operation),
      'filters of many comparisons over many long values': filteredPatch,
      'filters that compare nothing': emptyFilters,
      'one value to a list of long ones': longValues,
      'names with filters in one value': (bytes) => {
        const value = Object.fromEntries(Array.from({ length: bytes / 40 }, (_, at) => [`emails[type eq "${at}"].display`, 'x']))
        const values = Array.from({ length: 500 }, (_, at) => ({ value: `m${at}@example.com` }))
        return refusing(() => applyPatch(users, { emails: values }, { operations: [{ op: 'replace', value }] }))
      },
    },
  },
  {
    name: 'the attributes that an answer of SCIM leaves out',
    shapes: {
      'one path many times': (bytes) => () =>
        project(wideUser, users, projectionOf({ excludedAttributes: repeated('emails.type,', bytes) })),
      'one path that is asked for many times': (bytes) => () =>
        project(wideUser, users, projectionOf({ attributes: repeated('emails.value,', bytes) })),
    },
  },
  {
    name: 'the headers of a check',
    shapes: {
      'many headers': (bytes) => {
        const headers = Object.fromEntries(Array.from({ length: bytes / 16 }, (_, at) => [`x-${at}`, 'v']))
        return () => maskSecrets({ headers }, () => parameterSecrets('default.webhook', { headers }, []))
      },
    },
  },
  {
    name: 'a request in the audit trail',
    shapes: {
      'a list of secrets': (bytes) => {
        const list = Array.from({ length: bytes / 4 }, () => '')
        const schema = containingSecrets(z.array(z.string()), () => list.map((_, at) => [at]))
        return () => withoutSecrets(list, () => 'x', requestPlace(schema))
      },
    },
  },
  {
    name: 'the places of a text that are counted in bytes',
    shapes: {
      'many places of one long text': (bytes) => placesOf([repeated('é', bytes / 2)], bytes / 16),
      'a text in many pieces': (bytes) =>
        placesOf(
          Array.from({ length: bytes / 4 }, () => 'é'),
          16,
        ),
      'halves of pictures': (bytes) =>
        placesOf(
          Array.from({ length: bytes / 4 }, (_, at) => (at % 2 === 0 ? '\ud83d' : '\ude00')),
          bytes / 16,
        ),
    },
  },
  { name: 'a path of SCIM', shapes: reading(runs, parsePath) },
  { name: 'the name of a label', shapes: reading(runs, (text) => createLabelBody.safeParse({ name: `${text}@` })) },
  { name: 'a text with secrets', shapes: reading(runs, scrubSecrets) },
  { name: 'a text with URLs', shapes: reading(runs, withoutUrlCredentials) },
  { name: 'a text with escapes', shapes: reading(runs, (text) => withoutEscapes(text, 'text/plain')) },
  {
    name: 'the figures of a question',
    shapes: reading(runs, (text) =>
      likenessOf({ messages: [{ role: 'user', content: text }] }, { maxTemperature: 1, tools: true, media: true }),
    ),
    most: 8000,
  },
  {
    name: 'the rates in an answer',
    shapes: reading(runs, (text) => rateHeaders(['x-ratelimit-reset-requests', text], { from: 'openai-chat', to: 'anthropic', now: 0 })),
  },
  { name: 'the tokens of a text', shapes: reading(runs, countTokens) },
  {
    name: 'a template',
    shapes: reading(
      { ...runs, 'open tags': (length) => repeated('{{', length), sections: (length) => repeated('{{#a}}', length) },
      (text) => compilePrompt({ string: text, isRaw: true, jsonVariables: [] }),
    ),
  },
  {
    name: 'a pattern',
    shapes: reading(
      {
        ...runs,
        classes: (length) => repeated('[', length),
        properties: (length) => repeated(String.raw`\p{`, length),
        groups: (length) => repeated('(', length),
        repeats: (length) => repeated('{1', length),
      },
      (text) => [patternSize(text), patternWork(text)],
    ),
    most: 64 * 1024,
  },
  {
    name: 'a mail',
    shapes: reading(
      {
        ...runs,
        'tags without end': (length) => repeated('<', length),
        'links without end': (length) => repeated('<a href="', length),
        'links that are not closed': (length) => repeated('<a href="h">', length),
        links: (length) => repeated('<a href="h">h</a>', length),
        'titles without end': (length) => repeated('<title>', length),
        'heads without end': (length) => repeated('<head>', length),
        'line breaks': (length) => repeated('<br>', length),
        blanks: (length) => `<p>${repeated(' \t', length)}x</p>`,
      },
      (text) => [render(text, {}), render('{{a}}', { a: text })],
    ),
  },
  {
    name: 'the keys of a role',
    shapes: reading(
      {
        blanks: (length) => `<AccessKeyId>${repeated(' ', length)}`,
        'blanks and a key': (length) => `<AccessKeyId>${repeated(' x', length)}`,
        openings: (length) => repeated('<AccessKeyId>', length),
        'openings and blanks': (length) => repeated('<AccessKeyId> ', length),
      },
      readRoleKeys,
    ),
  },
  { name: 'the end of a URL', shapes: reading(runs, (text) => [withoutEnd(text, '/'), withoutEnd(`${text}/`, '/')]) },
  { name: 'a form', shapes: reading(form, (text) => readForm(Buffer.from(text), boundary)) },
  {
    name: 'the values of a form',
    shapes: reading(form, (text) => refusing(() => formValues(Buffer.from(text), boundary, { field: 'a' }))()),
  },
  {
    name: 'a form that goes through',
    shapes: Object.fromEntries(
      Object.entries(form).flatMap(([name, text]) =>
        [1, 64 * 1024, 1024 * 1024].map((size) => [
          `${name}, ${size} bytes at a time`,
          (bytes: number) => {
            const made = Buffer.from(text(bytes))
            return () => inPieces(made, size, createFormScan('--b', { names: new Set(['a']), tell() {} }))
          },
        ]),
      ),
    ),
  },
  { name: 'an upload', shapes: arriving(uploads, upload) },
  {
    name: 'the lines of an input file',
    shapes: arriving(
      { ...runs, 'lines of blanks': (length) => repeated(' \r\n', length), 'short lines': (length) => repeated('x\n', length) },
      countLines,
    ),
  },
  {
    name: 'a recording',
    shapes: reading(form, (text) => {
      const watch = new FormWatch('--b')
      watch.add(Buffer.from(text))
      return recordedMs(watch.told())
    }),
  },
  {
    name: 'a picture',
    shapes: { 'many pieces': (bytes) => () => opacityOf(Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(bytes)])) },
  },
  {
    name: 'spans',
    shapes: reading(spanBodies, (text) => readSpans(traceRequestBody.parse(JSON.parse(text)).resourceSpans)),
    most: 2 * 1024 * 1024,
  },
  {
    name: 'spans in protobuf',
    shapes: Object.fromEntries(
      Object.entries(protobuf).map(([name, make]) => [
        name,
        (bytes: number) => {
          const made = make(bytes)
          return refusing(() => readMessage(made, traceRequest))
        },
      ]),
    ),
    most: 2 * 1024 * 1024,
  },
]
