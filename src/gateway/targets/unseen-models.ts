import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import { listOf } from '../dialects/openai-responses/sold-tools.ts'
import { sentFields } from '../dialects/sent-fields.ts'
import type { RequestBody } from '../wire/body.ts'

/** A field by which a request leads to something of the provider's that names models itself. */
interface Reference {
  /** In lower case, without underscores: every spelling counts. */
  readonly field: string
  /** The thing with models of its own that the field names. */
  readonly to: string
  /** True if a model that the request names itself goes before it. */
  readonly yields: boolean
  /** True if it begins a job, whose requests are seen when they are charged. */
  readonly ofJob?: boolean
  /** Absent: any value leads there. */
  readonly leads?: (value: unknown) => boolean
}

/** Plugins of OpenRouter that hand nothing on to another model of conversations: openrouter.ai/docs. */
const plainPlugins: ReadonlySet<unknown> = new Set(['web', 'file-parser', 'response-healing', 'context-compression', 'moderation'])
const isRouting = (plugin: unknown): boolean => !isFields(plugin) || !plainPlugins.has(plugin['id'])

const namesId = (value: unknown): boolean => isFields(value) && typeof value['id'] === 'string'

/**
 * platform.openai.com/docs/api-reference (batch, runs, responses), docs.mistral.ai/api (agents, conversations, batch), openrouter.ai/docs,
 * replicate.com/docs/reference/http.
 */
const references: readonly Reference[] = [
  { field: 'inputfileid', to: 'a file whose requests name models', yields: false, ofJob: true },
  { field: 'inputfiles', to: 'files whose requests name models', yields: true, ofJob: true },
  { field: 'inputdatasetid', to: 'data whose requests name models', yields: true, ofJob: true },
  { field: 'assistantid', to: 'an assistant that has a model', yields: true },
  { field: 'agentid', to: 'an agent that has a model', yields: false },
  { field: 'agent', to: 'an agent that has a model', yields: false, leads: isFields },
  { field: 'agentreference', to: 'an agent that has a model', yields: false },
  { field: 'preset', to: 'settings that have a model', yields: false },
  { field: 'plugins', to: 'plugins that have models', yields: false, leads: (value) => listOf(value).some(isRouting) },
  { field: 'prompt', to: 'a prompt that has a model', yields: true, leads: namesId },
  { field: 'previousresponseid', to: 'a response that has a model', yields: true },
  {
    field: 'version',
    to: 'a version of a model',
    yields: true,
    leads: (value) => typeof value === 'string' && /(?:^|:)[0-9a-f]{64}$/.test(value),
  },
]

interface RestrictedRequest {
  /** The beginning of the message of a refusal. */
  readonly because: string
  readonly body: RequestBody
  /** True if the request has a model where every provider reads it: as `model` of the body, or in the path. */
  readonly namesOne: boolean
  /** True if jobs pass whose requests name the models. */
  readonly takesJobs: boolean
}

/**
 * Refuses a request to which rules for models apply if its models cannot be read from it: it names a thing that has models of its own, or has
 * a key twice, and a provider may read the other one. Throws `forbidden` or `invalid_request`.
 */
export function refuseUnseenModels(request: RestrictedRequest): void {
  const { because, body } = request
  refuseRepeated(body, because)
  if (body.kind === 'json' && isFields(body.json)) for (const fields of sentFields(body.json)) refuseReferences(fields, request)
}

/** Throws `invalid_request` for a JSON body with a key twice in one object: a provider may read the other one. `because` begins the message. */
function refuseRepeated({ kind, bytes, json }: RequestBody, because: string): void {
  if (bytes === null || kind !== 'json') return
  const repeated = repeatedKey(bytes.toString(), json)
  if (repeated === null) return
  const key = JSON.stringify(repeated.slice(0, 100))
  throw new ApiError('invalid_request', `${because}, and ${key} stands twice in one object of the body.`, { param: 'body' })
}

function refuseReferences(fields: Fields, { because, namesOne, takesJobs }: RestrictedRequest): void {
  for (const [name, value] of Object.entries(fields)) {
    const reference = byField.get(name.toLowerCase().replaceAll('_', ''))
    if (reference === undefined || value === null || (takesJobs && reference.ofJob === true)) continue
    if ((reference.yields && namesOne) || reference.leads?.(value) === false) continue
    const remedy = reference.yields ? ' Name the model in the request.' : ''
    throw new ApiError('forbidden', `${because}, and ${name} leads to ${reference.to}, which Gatehouse does not see.${remedy}`, {
      param: name,
    })
  }
}

const byField: ReadonlyMap<string, Reference> = new Map(references.map((reference) => [reference.field, reference]))

/**
 * Returns what looks at the beginning of a body that is no JSON by its type, and throws `unsupported_media_type` if it is JSON all the same: some
 * servers read it under any type. `because` begins the message.
 */
export function jsonGuard(because: string): (chunk: Buffer) => void {
  let isBegun = false
  return (chunk) => {
    if (isBegun) return
    const first = chunk.find((byte) => !blank.has(byte))
    if (first === undefined) return
    isBegun = true
    if (first === openingBrace || first === openingBracket)
      throw new ApiError('unsupported_media_type', `${because}: send JSON with content-type application/json.`, {
        param: 'content-type',
      })
  }
}

/** Blanks, a byte order mark, and what separates JSON texts. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0x1e, 0xef, 0xbb, 0xbf])
const openingBrace = 0x7b
const openingBracket = 0x5b
