import { z } from 'zod'
import { authorizeAws } from '../../credentials/aws.ts'
import { awsDomain } from '../../providers/aws-domain.ts'
import type { CheckContext } from '../check.ts'
import { partner, type SignedCall } from './partner.ts'
import { key, redact } from './words.ts'

const account = {
  awsAuthType: z.enum(['accessKey', 'assumedRole']).default('accessKey'),
  awsAccessKeyId: key,
  awsSecretAccessKey: key,
  awsSessionToken: key.optional(),
  awsRegion: z.string().regex(/^[a-z0-9-]{1,40}$/, 'This is not a region.'),
  awsRoleArn: z.string().max(2048).optional(),
  awsExternalId: z.string().max(1224).optional(),
}
type Account = z.output<z.ZodObject<typeof account>>

const names = {
  awsAuthType: 'aws_auth_type',
  awsAccessKeyId: 'aws_access_key_id',
  awsSecretAccessKey: 'aws_secret_access_key',
  awsSessionToken: 'aws_session_token',
  awsRegion: 'aws_region',
  awsRoleArn: 'aws_role_arn',
  awsExternalId: 'aws_external_id',
} as const satisfies Record<keyof typeof account, string>

async function signed(given: Account, { url, body }: SignedCall, { egress, now }: CheckContext): Promise<Record<string, string>> {
  const fields = Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[nameOf(name), value]])))
  const headers = ['content-type', 'application/json']
  const auth = { kind: 'sigv4', service: 'bedrock' } as const
  const credential = { key: null, fields }
  const at = { origin: url.origin, path: url.pathname }
  const own = await authorizeAws({ auth, credential, method: 'POST', url: at, headers, body: Buffer.from(body) }, 'bedrock', {
    egress,
    now,
  })
  return Object.fromEntries(own.headers.flatMap((name, i) => (i % 2 === 0 ? [[name, own.headers[i + 1] ?? '']] : [])))
}

const nameOf = (name: string): string => Object.entries(names).find(([own]) => own === name)?.[1] ?? name

/** Every finding of a policy has an `action`. */
function actionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, held]) => (name === 'action' && typeof held === 'string' ? [held] : actionsIn(held)))
}

/** A guardrail of the cloud's own. */
export const bedrockGuard = partner({
  id: 'bedrock.guard',
  title: 'AWS Bedrock guardrail',
  about: 'Applies a guardrail of Bedrock; with `redact` texts that it would mask are masked, and only texts that it blocks fail.',
  basis: 'documented',
  fields: {
    guardrailId: z
      .string()
      .regex(/^[\w.:/-]{1,2048}$/)
      .meta({ description: 'The guardrail.' }),
    guardrailVersion: z
      .string()
      .regex(/^(?:\d{1,8}|DRAFT)$/)
      .meta({ description: 'Its version, or `DRAFT`.' }),
    redact,
  },
  credentials: account,
  secrets: ['awsAccessKeyId', 'awsSecretAccessKey', 'awsSessionToken'],
  changes: (parameters) => parameters.redact,
  limits: { most: 25_000 },
  service: ({ awsRegion }) => `https://bedrock-runtime.${awsRegion}.${awsDomain(awsRegion)}`,
  sign: signed,
  call: ({ parameters: { guardrailId, guardrailVersion }, text, subject }) => ({
    path: `/guardrail/${encodeURIComponent(guardrailId)}/version/${guardrailVersion}/apply`,
    body: { source: subject.phase === 'input' ? 'INPUT' : 'OUTPUT', content: [{ text: { text } }] },
  }),
  answer: z.looseObject({
    action: z.enum(['NONE', 'GUARDRAIL_INTERVENED']),
    assessments: z.array(z.record(z.string(), z.unknown())).nullish(),
    outputs: z.array(z.looseObject({ text: z.string() })).nullish(),
  }),
  find({ action, assessments, outputs }, { parameters, text }) {
    if (action === 'NONE') return { passed: true, data: { action } }
    const policies = [...new Set((assessments ?? []).flatMap((one) => Object.keys(one).filter((name) => actionsIn(one[name]).length > 0)))]
    const actions = actionsIn(assessments)
    const masked = parameters.redact && actions.length > 0 && actions.every((name) => name === 'ANONYMIZED' || name === 'NONE')
    return { passed: masked, data: { action, policies }, ...(masked && { text: outputs?.[0]?.text ?? text }) }
  },
})
