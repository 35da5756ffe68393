import { z } from 'zod'
import {
  type LaterBeside,
  laterBeside,
  findProvider,
  meantSentence,
  baseUrlOf,
  withDefaults,
  secretFields,
  type Provider,
} from '../../gateway/ports/providers.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { ApiError } from '../../lib/errors.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { refusal, refusedPart } from '../../lib/json/schema-faults.ts'
import type { Level } from '../../release/level.ts'
import { choices, extraFields, fieldType, requiredFields } from './configuration-fields.ts'
import { toFields } from './credential-fields.ts'

export type Configurations = Readonly<Record<string, unknown>>

/** The row of the catalogue, and whether a provider key comes with the configurations. */
export interface ConfigurationContext {
  readonly aiProviderId: string
  readonly hasKey: boolean
  /** Fields that come from external secret managers, so that they need not be given. */
  readonly mapped?: readonly string[]
  readonly level: Pick<Level, 'atLeast'>
}

/** The row of the catalogue, or AB01 naming the field. */
export function catalogueRow(aiProviderId: string, param: string): Provider {
  const provider = findProvider(aiProviderId)
  if (provider === null)
    throw new ApiError('AB01', `There is no provider "${aiProviderId}" in the catalogue.${meantSentence(aiProviderId)}`, { param })
  return provider
}

/** Checks configurations against their kind of provider; null is as absent. AB01 names the field as `configurations.<name>`. */
export function parseConfigurations(given: Configurations, context: ConfigurationContext): Configurations {
  const { aiProviderId, hasKey, mapped = [] } = context
  const provider = catalogueRow(aiProviderId, 'ai_provider_id')
  const schema = schemaFor(aiProviderId, provider)
  const parsed = parseGiven(schema, withoutNulls(given))
  if (!parsed.success)
    throw refusedPart(parsed.error, { value: given, above: 'configurations', unknown: 'is no configuration of this provider', schema })
  const configurations = parsed.data
  const later = laterBeside(configurations, (release) => context.level.atLeast(release))
  if (later !== null) throw fault(later.name, tooEarly(later))
  const twice = mapped.find((name) => configurations[name] !== undefined)
  if (twice !== undefined) throw fault(twice, 'is given, and mapped to a secret too: leave one of them out')
  const isThere = (name: string): boolean => mapped.includes(name) || configurations[name] !== undefined
  const demanded = (names: readonly string[]): readonly string[] => names.filter((name) => !mapped.includes(name))
  if (configurations['custom_host'] === undefined) {
    demandAll(configurations, demanded(missingHere(context, { provider, configurations })))
    addressOf(aiProviderId, configurations)
  }
  for (const choice of choices) {
    const chosen = configurations[choice.field] === choice.value && !(choice.orKey && hasKey)
    const { instead = {} } = choice
    if (chosen)
      demandAll(
        configurations,
        demanded(choice.needs).filter((name) => !isThere(instead[name] ?? '')),
      )
  }
  return configurations
}

const tooEarly = ({ release, beside }: LaterBeside): string =>
  `comes with release ${release} beside ${beside}, and this installation is at an earlier level`

const withoutNulls = (given: Configurations): Configurations =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))

function schemaFor(aiProviderId: string, provider: Provider) {
  const names = [
    ...Object.keys(provider.fields ?? {}),
    ...(extraFields[aiProviderId] ?? []),
    'is_key_required',
    'custom_host',
    'custom_headers',
  ]
  return z.strictObject(Object.fromEntries(names.map((name) => [name, fieldType(name).optional()])))
}

interface GivenConfigurations {
  readonly provider: Provider
  readonly configurations: Configurations
}

const missingHere = (
  { aiProviderId, level }: ConfigurationContext,
  { provider, configurations }: GivenConfigurations,
): readonly string[] => [
  ...(requiredFields[aiProviderId] ?? []).filter(
    (name) => laterBeside({ ...configurations, [name]: name }, (release) => level.atLeast(release))?.name !== name,
  ),
  ...Object.entries(provider.fields ?? {}).flatMap(([name, preset]) => (preset === null ? [name] : [])),
  ...(provider.baseUrl === null ? ['custom_host'] : []),
]

function demandAll(configurations: Configurations, names: readonly string[]): void {
  const missing = [...new Set(names)].filter((name) => configurations[name] === undefined || configurations[name] === '')
  if (missing.length > 0) throw refusal(missing.map((name) => ({ param: `configurations.${name}`, code: 'missing', message: 'is needed' })))
}

const fault = (name: string, text: string): ApiError =>
  new ApiError('AB01', `configurations.${name} ${text}.`, { param: `configurations.${name}` })

/** Returns the address to which the credential goes: the custom host, or the provider's own for these configurations; null when unknown. */
export function addressOf(aiProviderId: string, configurations: Configurations): string | null {
  const custom = configurations['custom_host']
  if (typeof custom === 'string') return custom
  const provider = catalogueRow(aiProviderId, 'ai_provider_id')
  try {
    return baseUrlOf(provider, withDefaults(provider, toFields(configurations)))
  } catch (error) {
    if (error instanceof ApiError) throw fault(error.param ?? '', `cannot be used: ${error.message.replace(/\.$/, '')}`)
    throw error
  }
}

/** Lets the egress guard look at every URL among the configurations. Throws `blocked_host` naming the field. */
export async function checkUrls(configurations: Configurations, egress: Egress): Promise<void> {
  const account = configurations['vertex_service_account_json']
  const tokenUri = typeof account === 'object' && account !== null && 'token_uri' in account ? account.token_uri : undefined
  const urls = {
    custom_host: configurations['custom_host'],
    azure_foundry_url: configurations['azure_foundry_url'],
    huggingface_base_url: configurations['huggingface_base_url'],
    'vertex_service_account_json.token_uri': tokenUri,
  }
  for (const [name, url] of Object.entries(urls)) {
    if (typeof url === 'string' && url !== '') await egress.origin(url, `configurations.${name}`)
  }
}

const isSecret = (name: string): boolean => name === 'custom_headers' || secretFields.has(name)

/** The fields that may be shown and those that are sealed. */
export function splitSecrets(configurations: Configurations): { readonly open: Configurations; readonly secret: Configurations } {
  const entries = Object.entries(configurations).filter(([, value]) => value !== undefined)
  return {
    open: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    secret: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  }
}
