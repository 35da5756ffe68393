import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { z } from 'zod'
import { type JsonPath, pathText, valueAt } from '../../../lib/json/json-path.ts'
import { type Hide, hideWithinFields, hidingSecrets } from '../../../lib/text/known-secrets.ts'
import type { TextPart } from '../../dialects/neutral/texts.ts'
import { type Basis, type BodyEdit, cannotTell, check, type Check, type CheckContext, type Subject, type Verdict } from '../check.ts'
import type { HostSource } from '../../egress/guard.ts'
import { accountFields, accountRule, baseUrl, findAccount, type OpenAccount, pluginOf } from './account.ts'
import { withoutEnd } from '../../../lib/text/without-end.ts'

type Shape = Readonly<Record<string, z.ZodType>>
type ParsedFields<Fields extends Shape> = z.output<z.ZodObject<Fields>>

/** The question to a partner. */
export interface PartnerQuestion<Fields extends Shape, Credentials extends Shape> {
  readonly parameters: ParsedFields<Fields>
  readonly credentials: ParsedFields<Credentials>
  /** The text of this call. */
  readonly text: string
  readonly subject: Subject
}

/** One POST of JSON. The path goes behind the address of the service. */
export interface PartnerCall {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A call with its address, as its signer sees it. */
export interface SignedCall {
  readonly url: URL
  readonly body: string
}

/** The meaning of an answer. */
export interface Finding {
  readonly passed: boolean
  /** The facts for `hook_results`; never the words that were found. */
  readonly data?: Readonly<Record<string, unknown>>
  /** The text as it becomes; absent: it stays. */
  readonly text?: string
  /** The same of all texts, in their order, where a call holds them all. */
  readonly texts?: readonly string[]
}

/** A partner's check: only how it differs. */
export interface Partner<Fields extends Shape, Credentials extends Shape, Answer> extends Partial<
  Pick<Check, 'since' | 'phases' | 'timeoutMs' | 'urls'>
> {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly basis: Basis
  /** The parameters beside credentials, address and time. */
  readonly fields: Fields
  readonly credentials: Credentials
  /** The paths of the credentials that are secret. */
  readonly secrets: readonly string[]
  /** Returns whether it may change texts, by its parameters; absent: never. */
  readonly changes?: (parameters: ParsedFields<Fields>) => boolean
  /** The most and the least characters that a call may hold: longer texts go in several, shorter ones pass. */
  readonly limits?: { readonly most?: number; readonly least?: number }
  /** `all`: one call for all texts, of any number and length. */
  readonly takes?: 'text' | 'all'
  /** The address of the service unless `baseUrl` names another. */
  readonly service: (credentials: ParsedFields<Credentials>) => string
  /** The partner's own domains, where credentials name the host. Any other host needs leave, as all hosts do that data names. */
  readonly domains?: readonly string[]
  readonly call: (asked: PartnerQuestion<Fields, Credentials>) => PartnerCall
  /** Headers that convince the service. */
  readonly sign: (
    credentials: ParsedFields<Credentials>,
    call: SignedCall,
    context: CheckContext,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  readonly answer: z.ZodType<Answer>
  readonly find: (answer: Answer, asked: PartnerQuestion<Fields, Credentials>) => Finding
}

/** So many calls one check makes for a request at most, and so many at a time. */
const maxCalls = 100
const atATime = 8

/** Makes a check of a partner's row: one engine asks them all. */
export function partner<Fields extends Shape, Credentials extends Shape, Answer>(row: Partner<Fields, Credentials, Answer>): Check {
  const { id, title, about, basis, secrets, urls = [], changes, timeoutMs = 5000 } = row
  const ownFields = z.object(row.fields)
  const ownCredentials = z.strictObject(row.credentials)
  const keyless = Object.keys(row.credentials).length === 0
  const plugin = pluginOf(id)
  const fields: Shape = { ...row.fields, ...(keyless ? { baseUrl } : accountFields(ownCredentials)) }
  return check({
    id,
    title,
    about,
    basis,
    timeoutMs,
    fields,
    ...(!keyless && { rule: accountRule, account: { plugin, schema: ownCredentials, secrets, urls } }),
    ...(row.since !== undefined && { since: row.since }),
    ...(row.phases !== undefined && { phases: row.phases }),
    changes: changes !== undefined,
    secrets: secrets.map((name) => `credentials.${name}`),
    urls: ['baseUrl', ...urls.map((name) => `credentials.${name}`)],
    ...(row.domains !== undefined && urls.length === 0 && { serviceOf: (given) => namedService(row, given) }),
    ready(given) {
      const parameters = ownFields.parse(given)
      const address = typeof given['baseUrl'] === 'string' ? given['baseUrl'] : null
      const own =
        keyless || given['credentials'] !== undefined ? { credentials: ownCredentials.parse(given['credentials'] ?? {}), address } : null
      return {
        judgesPrefix: false,
        changes: changes?.(parameters) === true,
        async run(subject, context) {
          const account = own ?? (await findAccount({ title, plugin, schema: ownCredentials }, context))
          return ask({ row, parameters, account }, subject, context)
        },
      }
    },
  })
}

interface PartnerRequest<Fields extends Shape, Credentials extends Shape, Answer> {
  readonly row: Partner<Fields, Credentials, Answer>
  readonly parameters: ParsedFields<Fields>
  readonly account: OpenAccount<ParsedFields<Credentials>>
}

/** A text of one call, and the part that it is of; null: of all of them together. */
interface Piece {
  readonly part: TextPart | null
  readonly text: string
}

async function ask<Fields extends Shape, Credentials extends Shape, Answer>(
  asking: PartnerRequest<Fields, Credentials, Answer>,
  subject: Subject,
  context: CheckContext,
): Promise<Verdict> {
  const { row, parameters } = asking
  const pieces = row.takes === 'all' ? [joined(subject)] : piecesOf(subject, row.limits, row.changes?.(parameters) === true)
  if (pieces.length > maxCalls) throw cannotTell(`${row.title} would have to be asked more than ${maxCalls} times about so much text.`)
  const findings: Finding[] = []
  for (let at = 0; at < pieces.length; at += atATime) {
    const some = pieces.slice(at, at + atATime)
    findings.push(...(await Promise.all(some.map(({ text }) => askOnce(asking, { text, subject }, context)))))
    if (findings.some(({ passed }) => !passed)) break
  }
  return toVerdict(row.title, { subject, pieces, findings })
}

const joined = ({ parts }: Subject): Piece => ({ part: null, text: parts.map(({ text }) => text).join('\n') })

/** One text of all parts, or each part by itself where it may be changed; cut where a call would hold too much. */
function piecesOf(subject: Subject, limits: { most?: number; least?: number } = {}, each: boolean): readonly Piece[] {
  const { most = Infinity, least = 1 } = limits
  const whole = each ? subject.parts.map((part): Piece => ({ part, text: part.text })) : [joined(subject)]
  return whole
    .flatMap(({ part, text }) => cut(text, most).map((piece): Piece => ({ part, text: piece })))
    .filter(({ text }) => text.length >= least)
}

/** Never through the middle of a character. */
function cut(text: string, most: number): readonly string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const end = from + most
    const until = /[\ud800-\udbff]/.test(text[end - 1] ?? '') && end < text.length ? end - 1 : end
    pieces.push(text.slice(from, until))
    from = until
  }
  return pieces
}

async function askOnce<Fields extends Shape, Credentials extends Shape, Answer>(
  { row, parameters, account: { credentials, address } }: PartnerRequest<Fields, Credentials, Answer>,
  about: Pick<PartnerQuestion<Fields, Credentials>, 'text' | 'subject'>,
  context: CheckContext,
): Promise<Finding> {
  const asked = { parameters, credentials, ...about }
  const { path, headers = {}, body } = row.call(asked)
  const service = address ?? row.service(credentials)
  const sent = { url: new URL(withoutEnd(service, '/') + path), body: JSON.stringify(body) }
  const signed = row.sign(credentials, sent, context)
  const answered = await postPartner({
    title: row.title,
    url: sent.url.href,
    headers: { ...headers, ...(signed instanceof Promise ? await signed : signed) },
    body: sent.body,
    answer: row.answer,
    context,
    named: address === null && isOwnHost(sent.url, row.domains) ? 'by catalogue' : 'by data',
  })
  const finding = row.find(answered, asked)
  return finding.data === undefined ? finding : { ...finding, data: hideWithinFields(finding.data, hidingOf(row, credentials)) }
}

/** By the credentials of a check, which stay the same from request to request. */
const hidings = new WeakMap<object, Hide>()

/** Returns how the facts of a finding go without the credentials that a partner repeats in them. */
function hidingOf(row: { readonly secrets: readonly string[] }, credentials: object): Hide {
  const known = hidings.get(credentials)
  if (known !== undefined) return known
  const made = hidingSecrets(secretsOf(row, credentials))
  hidings.set(credentials, made)
  return made
}

const secretsOf = ({ secrets }: { readonly secrets: readonly string[] }, credentials: unknown): readonly string[] =>
  secrets.flatMap((name) => {
    const secret = valueAt(credentials, name.split('.'))
    return typeof secret === 'string' ? [secret] : []
  })

const given = z.looseObject({ credentials: z.record(z.string(), z.unknown()), baseUrl: z.undefined().optional() })

/** The service that credentials name, unless it is of the partner's own domains; null where they name none. */
function namedService<Fields extends Shape, Credentials extends Shape, Answer>(
  { credentials, service, domains }: Partner<Fields, Credentials, Answer>,
  parameters: unknown,
): string | null {
  const own = given.safeParse(parameters)
  const parsed = own.success ? z.object(credentials).safeParse(own.data.credentials) : null
  if (parsed?.success !== true) return null
  const url = URL.parse(toService(() => service(parsed.data)))
  return url === null || isOwnHost(url, domains) ? null : url.href
}

/** A key without the address of its service fails when it is used. */
function toService(find: () => string): string {
  try {
    return find()
  } catch {
    return ''
  }
}

const isOwnHost = ({ hostname }: URL, domains: readonly string[] | undefined): boolean =>
  domains === undefined || domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))

interface Post<Answer> {
  /** The name for errors. */
  readonly title: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly answer: z.ZodType<Answer>
  readonly context: CheckContext
  readonly named?: HostSource
}

/**
 * Calls a service, and returns its answer in the promised shape. Rejects when it does not answer, answers with an error, or in another shape; its own
 * words stay out of errors, for they may quote texts.
 */
export async function postPartner<Answer>({
  title,
  url,
  headers,
  body,
  answer,
  context,
  named = 'by data',
}: Post<Answer>): Promise<Answer> {
  const { status, text } = await context.egress.exchange({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body,
    timeoutMs: context.timeoutMs,
    named,
  })
  if (status < 200 || status > 299) throw new Error(`${title} answered ${status}.`)
  const parsed = answer.safeParse(jsonOrUndefined(text))
  if (parsed.success) return parsed.data
  const at = pathText(parsed.error.issues[0]?.path ?? [])
  throw new Error(`${title} gave an answer of another shape than expected${at === '' ? '' : `, at ${at}`}.`)
}

interface PartnerFindings {
  readonly subject: Subject
  readonly pieces: readonly Piece[]
  readonly findings: readonly Finding[]
}

function toVerdict(title: string, found: PartnerFindings): Verdict {
  const { findings } = found
  const failing = findings.filter(({ passed }) => !passed)
  const edits = editsOf(title, found)
  const telling = failing[0] ?? findings.find(({ text, texts }) => text !== undefined || texts !== undefined) ?? findings[0]
  const explanation =
    failing.length > 0
      ? `${title} does not let this pass.`
      : edits.length > 0
        ? `${title} lets this pass, with changes.`
        : findings.length === 0
          ? 'The text is too short to be judged.'
          : `${title} lets this pass.`
  return { passed: failing.length === 0, data: { explanation, ...telling?.data }, edits }
}

/** Returns the edits that give the texts their new form; a text of several pieces is put together again. */
function editsOf(title: string, { subject, pieces, findings }: PartnerFindings): readonly BodyEdit[] {
  const all = findings[0]?.texts
  if (all !== undefined) {
    if (all.length !== subject.parts.length) throw new Error(`${title} gave back another number of texts than it got.`)
    return subject.parts.flatMap(({ path, text }, at) => edit(path, text, all[at] ?? text))
  }
  if (findings.length < pieces.length) return []
  return subject.parts.flatMap((part) => {
    const own = pieces.flatMap((piece, at) => (piece.part === part ? [findings[at]?.text ?? piece.text] : []))
    return own.length === 0 ? [] : edit(part.path, part.text, own.join(''))
  })
}

const edit = (path: JsonPath, before: string, value: string): readonly BodyEdit[] => (before === value ? [] : [{ path, value }])
