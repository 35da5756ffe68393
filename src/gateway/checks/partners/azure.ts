import { z } from 'zod'
import { authorizeAzure } from '../../credentials/azure.ts'
import type { CheckContext } from '../check.ts'
import { partner, type SignedCall } from './partner.ts'
import { key, label, redact } from './words.ts'

const account = z
  .strictObject({
    resourceName: label,
    azureAuthMode: z.enum(['apiKey', 'entra']).default('apiKey'),
    apiKey: key.optional(),
    tenantId: z.string().max(255).optional(),
    clientId: z.string().max(255).optional(),
    clientSecret: key.optional(),
  })
  .superRefine(({ azureAuthMode: mode, ...given }, context) => {
    const needed = mode === 'apiKey' ? (['apiKey'] as const) : (['tenantId', 'clientId', 'clientSecret'] as const)
    for (const name of needed)
      if (given[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: `The mode ${mode} needs it.` })
  })
type Account = z.output<typeof account>

const serviceOf = ({ resourceName }: Account): string => `https://${resourceName}.cognitiveservices.azure.com`

async function signed(given: Account, { url, body }: SignedCall, { egress, now }: CheckContext): Promise<Record<string, string>> {
  if (given.apiKey !== undefined && given.azureAuthMode === 'apiKey') return { 'ocp-apim-subscription-key': given.apiKey }
  const fields = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: given.tenantId ?? '',
    azure_entra_client_id: given.clientId ?? '',
    azure_entra_client_secret: given.clientSecret ?? '',
  }
  const request = {
    auth: { kind: 'azure' },
    credential: { key: null, fields },
    method: 'POST',
    headers: [],
    body: Buffer.from(body),
  } as const
  const { headers } = await authorizeAzure({ ...request, url: { origin: url.origin, path: url.pathname } }, [], { egress, now })
  return { [headers[0] ?? '']: headers[1] ?? '' }
}

const apiVersion = (otherwise: string) =>
  z
    .string()
    .regex(/^[\w.-]{1,40}$/)
    .default(otherwise)
    .meta({ description: 'The version of the API.' })

const content = {
  basis: 'documented',
  credentials: { contentSafety: account },
  secrets: ['contentSafety.apiKey', 'contentSafety.clientSecret'],
  service: ({ contentSafety }: { contentSafety: Account }) => serviceOf(contentSafety),
  sign: ({ contentSafety }: { contentSafety: Account }, call: SignedCall, context: CheckContext) => signed(contentSafety, call, context),
} as const
const most = 10_000
const kinds = ['Hate', 'SelfHarm', 'Sexual', 'Violence'] as const

/** Hate, self-harm, sex and violence, by their severity. */
export const azureContentSafety = partner({
  ...content,
  id: 'azure.contentSafety',
  title: 'Azure AI Content Safety',
  about: 'Fails when a category reaches the severity, or a blocklist matches.',
  limits: { most },
  fields: {
    categories: z
      .array(z.enum(kinds))
      .min(1)
      .default([...kinds])
      .meta({ description: 'The categories.' }),
    severity: z.int().min(0).max(7).default(2).meta({ description: 'The severity from which a category fails.' }),
    blocklistNames: z.array(z.string().min(1).max(64)).max(100).default([]).meta({ description: 'Blocklists of the resource.' }),
    apiVersion: apiVersion('2024-09-01'),
  },
  call: ({ parameters: { categories, blocklistNames, apiVersion: version }, text }) => ({
    path: `/contentsafety/text:analyze?api-version=${version}`,
    body: { text, categories, blocklistNames },
  }),
  answer: z.looseObject({
    categoriesAnalysis: z.array(z.looseObject({ category: z.string(), severity: z.number().nullish() })),
    blocklistsMatch: z.array(z.looseObject({ blocklistName: z.string().optional() })).nullish(),
  }),
  find({ categoriesAnalysis, blocklistsMatch }, { parameters }) {
    const flagged = categoriesAnalysis.filter(({ severity }) => (severity ?? 0) >= parameters.severity).map(({ category }) => category)
    const blocklists = [...new Set((blocklistsMatch ?? []).map(({ blocklistName }) => blocklistName ?? ''))]
    return { passed: flagged.length + blocklists.length === 0, data: { flagged, blocklists } }
  },
})

const attack = z.looseObject({ attackDetected: z.boolean() })

/** Jailbreaks and prompt injection. */
export const azureShieldPrompt = partner({
  ...content,
  id: 'azure.shieldPrompt',
  title: 'Azure Prompt Shields',
  about: 'Fails when an attack on the model is found in the texts.',
  phases: ['input'],
  limits: { most },
  fields: { apiVersion: apiVersion('2024-09-01') },
  call: ({ parameters, text }) => ({
    path: `/contentsafety/text:shieldPrompt?api-version=${parameters.apiVersion}`,
    body: { userPrompt: text, documents: [] },
  }),
  answer: z.looseObject({ userPromptAnalysis: attack, documentsAnalysis: z.array(attack).nullish() }),
  find({ userPromptAnalysis, documentsAnalysis }) {
    const attacked = [userPromptAnalysis, ...(documentsAnalysis ?? [])].some(({ attackDetected }) => attackDetected)
    return { passed: !attacked, data: { attackDetected: attacked } }
  },
})

/** Lyrics, articles and other texts under copyright. */
export const azureProtectedMaterial = partner({
  ...content,
  id: 'azure.protectedMaterial',
  title: 'Azure protected material',
  about: 'Fails when the answer repeats protected texts. Answers of less than 110 characters are too short to be judged.',
  phases: ['output'],
  limits: { most, least: 110 },
  fields: { apiVersion: apiVersion('2024-09-01') },
  call: ({ parameters, text }) => ({
    path: `/contentsafety/text:detectProtectedMaterial?api-version=${parameters.apiVersion}`,
    body: { text },
  }),
  answer: z.looseObject({ protectedMaterialAnalysis: z.looseObject({ detected: z.boolean() }) }),
  find: ({ protectedMaterialAnalysis: { detected } }) => ({ passed: !detected, data: { detected } }),
})

/** Personal data. */
export const azurePii = partner({
  id: 'azure.pii',
  title: 'Azure PII detection',
  about: 'Fails when personal data is in the texts, or takes it out of them.',
  basis: 'documented',
  credentials: { pii: account },
  secrets: ['pii.apiKey', 'pii.clientSecret'],
  changes: (parameters) => parameters.redact,
  limits: { most: 5000 },
  fields: {
    domain: z.enum(['none', 'phi']).default('none').meta({ description: 'The field; `phi` is health.' }),
    modelVersion: z.string().max(40).default('latest').meta({ description: 'The version of the model.' }),
    language: z.string().max(20).default('en').meta({ description: 'The language of the texts.' }),
    piiCategories: z.array(z.string().max(100)).max(200).optional().meta({ description: 'The kinds that count; absent: all.' }),
    apiVersion: apiVersion('2024-11-01'),
    redact,
  },
  service: ({ pii }) => serviceOf(pii),
  sign: ({ pii }, call, context) => signed(pii, call, context),
  call: ({ parameters: { domain, modelVersion, piiCategories, language, apiVersion: version }, text }) => ({
    path: `/language/:analyze-text?api-version=${version}`,
    body: {
      kind: 'PiiEntityRecognition',
      parameters: { domain, modelVersion, ...(piiCategories !== undefined && { piiCategories }) },
      analysisInput: { documents: [{ id: '0', language, text }] },
    },
  }),
  answer: z.looseObject({
    results: z.looseObject({
      documents: z.array(z.looseObject({ redactedText: z.string(), entities: z.array(z.looseObject({ category: z.string() })) })).length(1),
    }),
  }),
  find({ results: { documents } }, { parameters }) {
    const [{ entities, redactedText } = { entities: [], redactedText: '' }] = documents
    const categories = [...new Set(entities.map(({ category }) => category))]
    const found = categories.length > 0
    return { passed: !found || parameters.redact, data: { categories }, ...(found && parameters.redact && { text: redactedText }) }
  },
})
